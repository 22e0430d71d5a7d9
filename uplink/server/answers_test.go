package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// at is a time in an address.
func at(t time.Time) string { return url.QueryEscape(vms.At(t).String()) }

// What goes on is listed with the document's own parameters, as long as the end asked for is about
// now or later: a client that asks until its own now may have a clock that is a little behind.
func TestWhatGoesOnIsListed(t *testing.T) {
	b := newBed(t)
	now := time.Now().UTC()
	open, done := motion("cam-1", 0, 0), motion("cam-1", 0, time.Second)
	open.StartTimestamp = vms.At(now.Add(-3 * time.Minute))
	done.StartTimestamp = vms.At(now.Add(-4 * time.Minute))
	done.EndTimestamp = vms.Ptr(now.Add(-2 * time.Minute))
	b.put(open, done)
	list := "/api/v3.0/events?actor=camera:cam-1&type__in=" + vms.TypeMotion + "&startTimestamp__gte=" +
		at(now.Add(-24*time.Hour)) + "&endTimestamp__lte="
	for end, want := range map[time.Time]int{now.Add(24 * time.Hour): 2, now.Add(time.Minute): 2,
		now: 2, now.Add(-10 * time.Second): 2, now.Add(-90 * time.Second): 1, now.Add(-150 * time.Second): 0} {
		page := b.get(list + at(end)).page()
		require.Len(t, page.Results, want, "end %s", end)
		require.Equal(t, want, page.TotalSize)
	}
	page := b.get(list + at(now.Add(time.Hour)) + "&pageSize=1").page()
	require.Nil(t, page.Results[0].EndTimestamp)
	require.Len(t, b.get(list+at(now.Add(time.Hour))+"&endTimestamp__gte="+at(now.Add(-time.Second))).page().Results, 1,
		"only the end of the other is past")
	require.Empty(t,
		b.get(list+at(now.Add(time.Hour))+"&endTimestamp__gte="+at(now.Add(30*time.Minute))).page().Results)
	// What begins later does not change how many the first page counted.
	more := motion("cam-1", 0, 0)
	more.StartTimestamp = vms.At(now.Add(-5 * time.Minute))
	b.put(more)
	next := b.get("/api/v3.0/events?pageToken=" + page.NextPageToken).page()
	require.Equal(t, 2, next.TotalSize)
	require.Len(t, next.Results, 1)
}

// Addresses of images are at the server that hands the event out, under the name that its client
// used, in lists, single events and streams alike; other servers' stay as they are.
func TestImagesAreWhereTheyAreAskedFor(t *testing.T) {
	b := newBed(t)
	ev := motion("cam-1", 0, time.Second)
	there := vms.ImageURL("http://192.0.2.7:8480", "cam-1", vms.ImagePreview, vms.OpBefore, t0)
	foreign := []string{vms.ImageURL("http://192.0.2.7", "cam-10", vms.ImagePreview, vms.OpBefore, t0),
		"https://shop.example/till.jpeg?deviceId=cam-1"}
	ev.SetData(vms.FullFrameImageURL("", there, t0, "preview"),
		vms.CroppedFrameImageURL("", "camera-cam-1:1", there+"#xywh=percent:1,2,3,4", t0),
		vms.FullFrameImageURL("", foreign[0], t0, ""), vms.FullFrameImageURL("", foreign[1], t0, ""))
	b.put(ev)
	here := strings.Replace(there, "http://192.0.2.7:8480", "https://vms.example", 1)
	raw, err := json.Marshal(here)
	require.NoError(t, err)
	unslashed := func(r reply) string { return strings.ReplaceAll(string(r.body), `\u0026`, "&") }
	want := strings.ReplaceAll(strings.Trim(string(raw), `"`), `\u0026`, "&")
	include := "include=data.vms.fullFrameImageUrl.v1,data.vms.croppedFrameImageUrl.v1"
	for _, path := range []string{"events/" + url.PathEscape(ev.ID) + "?" + include,
		"events?actor=camera:cam-1&startTimestamp__gte=2026-01-01T00:00:00Z&startTimestamp__lte=2027-01-01T00:00:00Z&" +
			include,
		"events:listRecentByType?actor=camera:cam-1&type__in=" + vms.TypeMotion + "&" + include} {
		r := b.get("/api/v3.0/" + path)
		require.Equal(t, 200, r.code, "%s", r.body)
		text := unslashed(r)
		require.Contains(t, text, `"httpsUrl":"`+want+`"`, path)
		require.Contains(t, text, want+"#xywh")
		require.NotContains(t, text, "192.0.2.7:8480")
		for _, f := range foreign {
			require.Contains(t, text, f)
		}
	}
	kept, err := b.journal.Get(ev.ID)
	require.NoError(t, err)
	moved := kept.WithImagesAt("http://10.1.1.1:8480/")
	require.Contains(t, text(t, moved), "http://10.1.1.1:8480/api/v3.0/media/recordedImage.jpeg?deviceId=cam-1")
	require.Contains(t, text(t, kept), "http://192.0.2.7:8480", "the event given is not changed")
}

func text(t *testing.T, ev vms.Event) string {
	raw, err := json.Marshal(ev)
	require.NoError(t, err)
	return strings.ReplaceAll(string(raw), `\u0026`, "&")
}

// eventMetrics counts what began in each interval.
func TestEventsAreCounted(t *testing.T) {
	b := newBed(t)
	for _, n := range []int{0, 10, 3599, 3600, 7300} {
		b.put(motion("cam-1", n, time.Second))
	}
	b.put(motion("cam-2", 5, time.Second))
	var got []counts
	path := "/api/v3.0/eventMetrics?actor=camera:cam-1&eventType=" + vms.TypeMotion
	b.get(path+"&timestamp__gte="+at(t0)+"&timestamp__lte="+at(t0.Add(3*time.Hour-time.Millisecond))).into(200, &got)
	hour := func(n int) int64 { return t0.Add(time.Duration(n) * time.Hour).UnixMilli() }
	require.Equal(t,
		[]counts{{vms.TypeMotion, "cam-1", "camera", "count", [][2]int64{{hour(0), 3}, {hour(1), 1}, {hour(2), 1}}}},
		got)
	b.get(path+","+vms.TypeTamper+"&aggregateByMinutes=180&timestamp__gte="+at(
		t0.Add(5*time.Second))+"&timestamp__lte="+at(t0.Add(time.Hour))).into(200, &got)
	require.Len(t, got, 2)
	sum := func(c counts) (n int64) {
		for _, p := range c.Points {
			n += p[1]
		}
		return n
	}
	require.EqualValues(t, 3, sum(got[0]), "cut at the times asked for")
	require.Zero(t, sum(got[1]))
	b.get(path).into(200, &got)
	require.GreaterOrEqual(t, len(got[0].Points), 168, "a week, by hours")
	for query, words := range map[string]string{"": "actor, eventType",
		"actor=camera:cam-1&eventType=x&zebra=1":                                                  "actor, actor__in",
		"actor=camera:cam-1&eventType=x&aggregateByMinutes=0":                                     "whole number",
		"actor=camera:cam-1&eventType=x&aggregateByMinutes=1&timestamp__gte=2026-01-01T00:00:00Z": "longer"} {
		r := b.get("/api/v3.0/eventMetrics?" + query)
		require.Equal(t, 400, r.code, query)
		require.Contains(t, string(r.body), words)
	}
	require.Equal(t, 404, b.get("/api/v3.0/eventMetrics?actor=camera:cam-9&eventType=x").code)
}

// The catalogue is told in the language that is asked for.
func TestTypesInALanguage(t *testing.T) {
	b := newBed(t)
	for _, x := range []struct{ query, header, lang, name string }{{"?language=ja", "", "ja", "モーション検知"},
		{"?language=ja-JP", "en", "ja", "モーション検知"},
		{"", "de;q=0.3, ja-JP;q=0.9, en;q=0.5", "ja", "モーション検知"},
		{"", "en-US,en;q=0.9,ja;q=0.8", "en", "Motion Detection"}, {"?language=xx", "ja", "en", "Motion Detection"},
		{"", "", "en", "Motion Detection"}} {
		r := b.do("GET", "/api/v3.0/eventTypes"+x.query, tokenUser, "", "Accept-Language", x.header)
		require.Equal(t, x.lang, r.header.Get("Content-Language"), "%v", x)
		var page vms.PageOf[vms.EventType]
		r.into(200, &page)
		require.Equal(t, x.name, page.Results[1].Name)
	}
}

// A type whose row of the catalogue names no schemas is reported without any; others are told what
// would do.
func TestReportsWithoutSchemas(t *testing.T) {
	b := newBed(t)
	ev := motion("cam-1", 0, time.Second)
	ev.SetData()
	ev.ID = ""
	for _, typ := range []string{"evacuateProtocol", "fightDetection", "handsUpDetection", "holdProtocol",
		"lockdownProtocol", "secureProtocol", "shelterProtocol", "vapeDetection"} {
		ev.Type = "vms." + typ + "Event.v1"
		raw := strings.Replace(strings.Replace(text(t, ev), `"dataSchemas":null`, `"dataSchemas":[]`, 1), `"data":null`, `"data":[]`, 1)
		r := b.do("POST", "/api/v3.0/events", tokenBridge, raw)
		require.Equal(t, 201, r.code, "%s: %s", typ, r.body)
		got := b.get("/api/v3.0/events?actor=camera:cam-1&type__in=" + ev.Type +
			"&startTimestamp__gte=2026-01-01T00:00:00Z&startTimestamp__lte=2027-01-01T00:00:00Z").page()
		require.Len(t, got.Results, 1)
		require.Empty(t, got.Results[0].DataSchemas)
	}
	ev.Type = "vms.violenceDetectionEvent.v1"
	b.do("POST", "/api/v3.0/events", tokenBridge, text(t, ev)).refused(400, vms.ReasonValue,
		"vms.creatorDetails.v1 would do")
}

// An answer is packed for who takes that: a list of motion events with all their data is a
// twentieth of its bytes.
func TestAnswersArePacked(t *testing.T) {
	b := newBed(t)
	var all []vms.Event
	for n := range 300 {
		ev := motion("cam-1", 7*n, time.Duration(3+n%11)*time.Second)
		at, object := ev.StartTimestamp.Time, vms.ObjectID("camera", "cam-1", strconv.Itoa(n))
		box := [4]float64{float64(n%97) / 100, float64(n%53) / 100, float64(n%97)/100 + 0.013, float64(n%53)/100 + 0.21}
		image := vms.ImageURL("https://vms.example", "cam-1", vms.ImagePreview, vms.OpBefore, at)
		ev.SetData(vms.CreatorDetails("", vms.CreatorInfo{ID: "vms.bridgeMotion", Vendor: "vmsbridge",
			Application: "vmsbridge", Version: "0.1.0"}),
			vms.ObjectDetection("", object, at, box), vms.FullFrameImageURL("", image, at, "preview"),
			vms.FullFrameImageURL("", image, at, "main"),
			vms.CroppedFrameImageURL("", object, image, at),
			vms.BoundingBoxOverlay([]vms.OverlayBox{{Label: "motion", At: at, Box: box}}))
		ev.ID = ev.NaturalID()
		all = append(all, ev)
	}
	require.NoError(t, b.journal.PutAll(all, false))
	path := "/api/v3.0/events?actor=camera:cam-1&pageSize=300&startTimestamp__gte=2026-01-01T00:00:00Z&startTimestamp__lte=2027-01-01T00:00:00Z&include=" +
		"data.vms.creatorDetails.v1,data.vms.objectDetection.v1,data.vms.fullFrameImageUrl.v1,data.vms.croppedFrameImageUrl.v1,data.vms.displayOverlay.boundingBox.v1"
	plain := b.do("GET", path, tokenUser, "", "Accept-Encoding", "identity")
	require.Len(t, plain.page().Results, 300)
	small := b.do("GET", path, tokenUser, "", "Accept-Encoding", "br, gzip;q=0.5")
	require.Equal(t, "gzip", small.header.Get("Content-Encoding"))
	require.Contains(t, small.header.Values("Vary"), "Accept-Encoding")
	t.Logf("%d bytes, packed %d: 1/%d", len(plain.body), len(small.body), len(plain.body)/len(small.body))
	require.Less(t, len(small.body)*20, len(plain.body))
	for _, header := range []string{"br\ngzip", "x-gzip"} {
		require.Equal(t, "gzip", b.do("GET", path, tokenUser, "", "Accept-Encoding",
			header).header.Get("Content-Encoding"), header)
	}
	r, err := gzip.NewReader(bytes.NewReader(small.body))
	require.NoError(t, err)
	whole, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, string(plain.body), string(whole))
	for _, header := range []string{"gzip;q=0", "", "br", "*;q=0"} {
		require.Empty(t, b.do("GET", path, tokenUser, "", "Accept-Encoding", header).header.Get("Content-Encoding"),
			header)
	}
	require.Empty(t, b.do("GET", "/api/v3.0/clientSettings", tokenUser, "", "Accept-Encoding",
		"gzip").header.Get("Content-Encoding"), "too short to be worth it")
}

// The document of the interface does not change while a program runs, and is sent once.
func TestTheDocumentIsSentOnce(t *testing.T) {
	b := newBed(t)
	whole := b.do("GET", pathOpenAPI, "", "")
	require.Equal(t, 200, whole.code)
	etag := whole.header.Get("ETag")
	require.Regexp(t, `^W/"[0-9a-f]{32}"$`, etag)
	for _, known := range []string{etag, `"x"` + "\n" + etag, "*"} {
		again := b.do("GET", pathOpenAPI, "", "", "If-None-Match", known)
		require.Equal(t, 304, again.code, known)
		require.Empty(t, again.body)
		require.Equal(t, etag, again.header.Get("ETag"))
	}
	require.Equal(t, 200, b.do("GET", pathOpenAPI, "", "", "If-None-Match", `"x"`).code)
}
