package server

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// mediaCookieOf opens a session of images with a token.
func mediaCookieOf(t *testing.T, b *bed, token string) *http.Cookie {
	t.Helper()
	r := b.do("GET", "/api/v3.0/media/session", token, "")
	var told map[string]string
	r.into(200, &told)
	require.Equal(t, "https://vms.example/api/v3.0/media/session", told["url"])
	res := http.Response{Header: r.header}
	require.Len(t, res.Cookies(), 1)
	cookie := res.Cookies()[0]
	require.True(t, cookie.HttpOnly && cookie.Secure && cookie.SameSite == http.SameSiteStrictMode, "%v", cookie)
	require.Equal(t, "/api/v3.0/media", cookie.Path)
	require.NotContains(t, cookie.Value, token)
	return cookie
}

// A browser's <img> sends no bearer token: the cookie of a media session opens images and nothing
// else, with the rights of its token.
func TestMediaSession(t *testing.T) {
	b := newBed(t)
	b.images = track(0)
	at := "timestamp__lt=" + url.QueryEscape(stamp(time.Hour))
	cookie := mediaCookieOf(t, b, tokenRestricted)
	sent := cookie.Name + "=" + cookie.Value
	with := func(path string, more ...string) reply {
		return b.do("GET", path, "", "", append([]string{"Cookie", sent}, more...)...)
	}
	for _, path := range []string{imagePath + "deviceId=cam-1&type=preview&" + at,
		"/api/v3.0/media/liveImage.jpeg?deviceId=cam-1"} {
		r := with(path)
		require.Equal(t, 200, r.code, "%s", r.body)
		require.Equal(t, jpeg, r.body)
		require.Equal(t, "same-origin", r.header.Get("Cross-Origin-Resource-Policy"))
		require.Equal(t, 200, with(path, "Sec-Fetch-Site", "same-origin").code)
		for _, site := range []string{"cross-site", "same-site"} {
			with(path, "Sec-Fetch-Site", site).refused(401, vms.ReasonUnauthenticated, "another site")
		}
	}
	with(imagePath+"deviceId=cam-2&type=preview&"+at).refused(404, vms.ReasonResource)
	for _, path := range []string{"/api/v3.0/cameras", "/api/v3.0/media/session", "/api/v3.0/users/self"} {
		with(path).refused(401, vms.ReasonUnauthenticated)
	}
	b.do("GET", imagePath, "", "", "Cookie", cookie.Name+"=forged").refused(401, vms.ReasonUnauthenticated,
		"is not one of this server")
	b.do("GET", imagePath, "", "").refused(401, vms.ReasonUnauthenticated)

	old := b.server.seal(tokenUser, "", time.Now().Add(-time.Second))
	b.do("GET", imagePath, "", "", "Cookie", cookie.Name+"="+old).refused(401, vms.ReasonUnauthenticated, "has expired")
	gone := b.server.seal("a token that ended", "", time.Now().Add(time.Hour))
	b.do("GET", imagePath, "", "", "Cookie", cookie.Name+"="+gone).refused(401, vms.ReasonUnauthenticated)
}

// Who may not look has no session either.
// Programs open the session as the vendor's documents have it, from a page of any origin: with the
// browser's cookies, which the browser refuses for an answer that allows every origin by a star.
func TestMediaSessionForAPage(t *testing.T) {
	b := newBed(t)
	const page = "https://app.example"
	for _, method := range []string{"OPTIONS", "GET"} {
		r := b.do(method, "/api/v3.0/media/session", tokenUser, "", "Origin", page)
		require.Less(t, r.code, 300, method)
		require.Equal(t, page, r.header.Get("Access-Control-Allow-Origin"), method)
		require.Equal(t, "true", r.header.Get("Access-Control-Allow-Credentials"), method)
		require.Contains(t, r.header.Values("Vary"), "Origin", method)
	}
	r := b.do("GET", "/api/v3.0/media/liveImage.jpeg?deviceId=cam-1", tokenUser, "", "Origin", page)
	require.Equal(t, "*", r.header.Get("Access-Control-Allow-Origin"), "what a cookie opens")
	require.Empty(t, r.header.Get("Access-Control-Allow-Credentials"), "what a cookie opens")
}

func TestMediaSessionNeedsARight(t *testing.T) {
	b := newBed(t)
	b.get("/api/v3.0/media/session?x=1").refused(400, vms.ReasonUnexpected, "x")
	b.do("GET", "/api/v3.0/media/session", tokenReporter, "").refused(403, vms.ReasonPermission)
	b.do("GET", "/api/v3.0/media/session", "", "").refused(401, vms.ReasonUnauthenticated)
}

// A signed address of an event opens exactly one image, for anybody, until it expires.
func TestSignedAddresses(t *testing.T) {
	b := newBed(t)
	b.images = track(0, time.Second)
	stored := vms.ImageURL("http://elsewhere:1", "cam-1", vms.ImagePreview, vms.OpBefore, t0.Add(500*time.Millisecond))
	cropped := vms.CroppedFrameImageURL("me", "o1", stored+"#xywh=percent:10,20,30,40", t0)
	foreign := vms.FullFrameImageURL("me", "https://elsewhere/picture.jpg", t0, "")
	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(t0), Span: true, AccountID: "acc-1", ActorID: "cam-1",
		ActorAccountID: "acc-1",
		ActorType:      vms.ActorCamera, CreatorID: "me"}
	ev.SetData(vms.FullFrameImageURL("me", stored, t0, vms.ImagePreview), cropped, foreign)
	ev.ID = ev.NaturalID()
	require.NoError(t, b.journal.Put(ev, false))
	list := "/api/v3.0/events?actor=camera:cam-1&startTimestamp__gte=2026-01-01T00:00:00Z&startTimestamp__lte=2027-01-01T00:00:00Z" +
		"&include=data.vms.fullFrameImageUrl.v1,data.vms.croppedFrameImageUrl.v1"
	urls := func(path string) (all []string) {
		var page struct {
			Results []struct{ Data []struct{ HTTPSURL string } }
		}
		b.get(path).into(200, &page)
		for _, d := range page.Results[0].Data {
			all = append(all, d.HTTPSURL)
		}
		return all
	}
	require.Equal(t, strings.Replace(stored, "http://elsewhere:1", "https://vms.example", 1), urls(list)[0],
		"unasked, an address is not signed")
	all := urls(list + ",signedUrls")
	require.Equal(t, "https://elsewhere/picture.jpg", all[2])
	for i, u := range all[:2] {
		require.Contains(t, u, "https://vms.example/api/v3.0/media/recordedImage.jpeg?")
		require.Equal(t, i == 1, strings.Contains(u, "&xywh=percent"), u)
	}
	signed := strings.TrimPrefix(all[0], "https://vms.example")
	open := func(path string) reply { return b.do("GET", path, "", "", "Sec-Fetch-Site", "cross-site") }
	r := open(signed)
	require.Equal(t, 200, r.code, "%s", r.body)
	require.Equal(t, stamp(0), r.header.Get("X-Vms-Timestamp"))
	require.Empty(t, r.header.Get("X-Vms-NextToken")+r.header.Get("X-Een-PrevToken"), "it leads to no other image")

	for name, changed := range map[string]string{
		"another camera": strings.Replace(signed, "cam-1", "cam-2", 1),
		"another kind":   strings.Replace(signed, "preview", "main", 1),
		"another time":   strings.Replace(signed, "timestamp__lt", "timestamp__gte", 1),
		"more":           signed + "&pageToken=x",
		"another path":   strings.Replace(signed, "recordedImage", "liveImage", 1),
	} {
		require.NotEqual(t, signed, changed)
		r := open(changed)
		require.Equal(t, 401, r.code, "%s: %s", name, r.body)
		require.Contains(t, string(r.body), "was changed", name)
	}
	at := strings.Index(signed, argSignature+"=") + len(argSignature) + 1
	open(signed[:at]+"A"+signed[at+1:]+"A").refused(401, vms.ReasonUnauthenticated, "is not one of this server")
	q, err := b.server.Sign("acc-1", "cam-1", url.Values{"type": {"preview"}, "timestamp__lt": {stamp(time.Hour)}},
		time.Now().Add(-time.Minute))
	require.NoError(t, err)
	open(imagePath+q.Encode()).refused(401, vms.ReasonUnauthenticated, "has expired at")
}

// A wall of stills that did not change costs an answer without a body each.
func TestImageIsNotSentTwice(t *testing.T) {
	b := newBed(t)
	b.images = track(0)
	for path, lifetime := range map[string]string{
		"/api/v3.0/media/liveImage.jpeg?deviceId=cam-1&type=preview": "private, no-cache",
		imagePath +
			"deviceId=cam-1&type=preview&timestamp__gte=2026-11-21T00:00:00Z": "private, no-cache",
		imagePath + "deviceId=cam-1&type=preview&timestamp__lt=" + url.QueryEscape(stamp(time.Second)): settledTime,
		imagePath + "deviceId=cam-1&type=preview&timestamp=" + url.QueryEscape(stamp(0)):               settledTime,
		imagePath +
			"deviceId=cam-1&type=preview&timestamp__lt=2126-11-21T00%3A00%3A00.000%2B00%3A00": "private, no-cache",
	} {
		r := b.get(path)
		require.Equal(t, 200, r.code, "%s", r.body)
		require.Equal(t, lifetime, r.header.Get("Cache-Control"), path)
		etag := r.header.Get("ETag")
		require.NotEmpty(t, etag)
		var asked ImageQuery
		b.images = func(q ImageQuery) (Image, error) { asked = q; return track(0)(q) }
		for _, held := range []string{etag, `"x", W/` + etag, "\"x\"\n" + etag, "*"} {
			r := b.do("GET", path, tokenUser, "", "If-None-Match", held)
			require.Equal(t, 304, r.code, held)
			require.Empty(t, r.body)
			require.Equal(t, stamp(0), r.header.Get("X-Vms-Timestamp"))
			require.Equal(t, held != "*", asked.Known.Equal(t0), "whoever has the images need not send it")
		}
		for _, other := range []string{`"x"`, `"m` + etag[2:], etag[:len(etag)-1], `"p--1"`, `"p-"`, `-`} {
			require.Equal(t, jpeg, b.do("GET", path, tokenUser, "", "If-None-Match", other).body, other)
		}
		require.Equal(t, 200, b.do("GET", path, tokenUser, "", "If-None-Match", `"x"`).code)
		part := b.do("GET", path, tokenUser, "", "Range", "bytes=0-2")
		require.Equal(t, 206, part.code)
		require.Equal(t, jpeg[:3], part.body)
		for _, none := range []string{"bytes=9999999-", "bytes=x", "bytes=5-2"} {
			beyond := b.do("GET", path, tokenUser, "", "Range", none)
			beyond.refused(416, vms.ReasonValue, "Range", strconv.Itoa(len(jpeg))+" bytes")
			require.Equal(t, "application/json", beyond.header.Get("Content-Type"))
			require.Equal(t, "no-store", beyond.header.Get("Cache-Control"), "nobody keeps a refusal")
			require.Empty(t, beyond.header.Get("ETag"))
		}
	}
}

func TestLiveImage(t *testing.T) {
	b := newBed(t)
	b.images = track(0, time.Second)
	r := b.get("/api/v3.0/media/liveImage.jpeg?deviceId=cam-1")
	require.Equal(t, 200, r.code)
	require.Equal(t, stamp(time.Second), r.header.Get("X-Een-Timestamp"))
	require.Empty(t, r.header.Get("X-Een-NextToken"), "nothing comes after the newest")
	prev := b.get(imagePath + "pageToken=" + url.QueryEscape(r.header.Get("X-Een-PrevToken")))
	require.Equal(t, stamp(0), prev.header.Get("X-Een-Timestamp"))
	b.get("/api/v3.0/media/liveImage.jpeg").refused(400, vms.ReasonMissing, "deviceId")
	b.get("/api/v3.0/media/liveImage.jpeg?deviceId=cam-1&type=huge").refused(400, vms.ReasonValue, "preview or main")
	b.get("/api/v3.0/media/liveImage.jpeg?deviceId=cam-9").refused(404, vms.ReasonResource)
	b.images = func(ImageQuery) (Image, error) {
		return Image{Time: t0, Length: -1, Body: io.NopCloser(io.MultiReader(bytes.NewReader(jpeg), &failing{}))}, nil
	}
	b.do("GET", "/api/v3.0/media/liveImage.jpeg?deviceId=cam-1", tokenUser, "", "Range", "bytes=0-2").refused(503,
		vms.ReasonDeviceUnavailable)
}

// A program that knows an address, a name and a password has the newest still.
func TestSnapshot(t *testing.T) {
	b := newBed(t)
	b.images = track(0, time.Second)
	mux := http.NewServeMux()
	mux.Handle("GET "+PathSnapshot, Snapshot(b.server))
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	ask := func(path, password string) (int, http.Header) {
		r, err := http.NewRequest("GET", s.URL+path, nil)
		require.NoError(t, err)
		if password != "" {
			r.SetBasicAuth("anybody", password)
		}
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode, res.Header
	}
	code, header := ask("/snapshot/cam-1.jpg", tokenUser)
	require.Equal(t, 200, code)
	require.Equal(t, stamp(time.Second), header.Get("X-Vms-Timestamp"))
	code, header = ask("/snapshot/cam-1.jpg", "")
	require.Equal(t, 401, code)
	require.Contains(t, header.Get("WWW-Authenticate"), "Basic")
	for path, want := range map[string]int{"/snapshot/cam-2.jpg": 404, "/snapshot/cam-1": 404,
		"/snapshot/cam-1.jpg?sort=1": 400} {
		code, _ := ask(path, tokenRestricted)
		require.Equal(t, want, code, path)
	}
	code, _ = ask("/snapshot/cam-1.jpg", "wrong")
	require.Equal(t, 401, code)
}

// listed is a source of images that knows when there are any.
type listed struct{ bedImages }

func (listed) Recorded(_ context.Context, account, camera, kind string, from, to time.Time,
	most int) (all []Interval, gaps []Gap, err error) {
	for i := range 3 {
		start := t0.Add(time.Duration(i) * time.Minute)
		if account+camera+kind == "acc-1cam-1preview" && !start.Before(from) && !start.After(to) {
			all = append(all, Interval{start, start.Add(30 * time.Second)})
			gaps = append(gaps, Gap{start.Add(30 * time.Second), start.Add(time.Minute), "nobody answers"})
		}
	}
	if len(gaps) > 0 {
		gaps[len(gaps)-1].End = time.Time{}
	}
	return all[:min(most, len(all))], gaps, nil
}

// When there are images, and why there are none in between.
func TestMediaIntervals(t *testing.T) {
	b := newBed(t)
	b.server.opts.Images = listed{bedImages{b}}
	list := "/api/v3.0/media?deviceId=cam-1&type=preview&mediaType=image&startTimestamp__gte=" +
		url.QueryEscape(stamp(0)) +
		"&endTimestamp__lte=" + url.QueryEscape(stamp(time.Hour))
	var got vms.MediaPage
	b.get(list).into(200, &got)
	require.Len(t, got.Results, 3)
	require.Equal(t, vms.MediaInterval{Type: "preview", DeviceID: "cam-1", MediaType: "image", Start: vms.At(t0),
		End: vms.At(t0.Add(30 * time.Second))},
		got.Results[0])
	require.Len(t, got.Gaps, 3)
	require.Equal(t, "nobody answers", got.Gaps[0].Reason)
	require.Nil(t, got.Gaps[2].End, "it lasts")
	require.NotContains(t, string(b.get(list).body), "totalSize")

	var starts []string
	for next := ""; ; {
		var page vms.MediaPage
		b.get(list+"&pageSize=1&pageToken="+url.QueryEscape(next)).into(200, &page)
		require.Len(t, page.Results, 1)
		require.Len(t, page.Gaps, 1)
		starts = append(starts, page.Results[0].Start.String())
		if next = page.NextPageToken; next == "" {
			break
		}
	}
	require.Equal(t, []string{stamp(0), stamp(time.Minute), stamp(2 * time.Minute)}, starts)

	b.get(strings.Replace(list, "=image", "=video", 1)).into(200, &got)
	b.get(list+"&coalesce=true&include=mp4Url").into(200, &got)
	require.Len(t, got.Results, 3, "they are coalesced, and there is no video")
	b.get("/api/v3.0/media?deviceId=cam-1").refused(400, vms.ReasonMissing, "type", "startTimestamp__gte")
	b.get(list+"&sort=x").refused(400, vms.ReasonUnexpected, "sort")
	b.get(strings.Replace(list, "=image", "=sound", 1)).refused(400, vms.ReasonValue, "mediaType")
	b.get(strings.Replace(list, "cam-1", "cam-9", 1)).refused(404, vms.ReasonResource)
	b.server.opts.Images = bedImages{b}
	b.get(list).refused(404, vms.ReasonResource)
}
