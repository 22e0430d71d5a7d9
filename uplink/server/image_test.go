package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

const imagePath = "/api/v3.0/media/recordedImage.jpeg?"

var jpeg = append([]byte{0xff, 0xd8, 0xff}, bytes.Repeat([]byte("x"), 5000)...)

// track is stills at the given offsets from t0, found by the operators as their names say.
func track(offsets ...time.Duration) func(ImageQuery) (Image, error) {
	return func(q ImageQuery) (Image, error) {
		var found *time.Time
		for _, o := range offsets {
			at := t0.Add(o)
			switch c := at.Compare(q.Time); {
			case q.Op == vms.OpBefore && c < 0, q.Op == vms.OpAtOrBefore && c <= 0, q.Op == vms.OpAt && c == 0:
				found = &at
			case found == nil && (q.Op == vms.OpAtOrAfter && c >= 0 || q.Op == vms.OpAfter && c > 0):
				found = &at
			}
		}
		if found == nil {
			return Image{}, vms.NotFound("images", "never recorded", q.Camera)
		}
		if q.Known.Equal(*found) {
			return Image{Time: *found, Body: http.NoBody}, nil
		}
		return Image{Time: *found, Length: int64(len(jpeg)), Body: io.NopCloser(bytes.NewReader(jpeg))}, nil
	}
}

func stamp(d time.Duration) string { return vms.At(t0.Add(d)).String() }

func TestImageOperators(t *testing.T) {
	b := newBed(t)
	us, ms := time.Microsecond, time.Millisecond
	b.images = track(0, 500*ms+300*us, 1000*ms, 1500*ms) // the second one is not on a whole millisecond
	for name, c := range map[string]struct {
		op, time string
		want     time.Duration
		none     bool
	}{
		"before":                        {"timestamp__lt", stamp(1000 * ms), 500 * ms, false},
		"before, strictly":              {"timestamp__lt", stamp(500 * ms), 0, false},
		"before, just after":            {"timestamp__lt", stamp(501 * ms), 500 * ms, false},
		"before the first":              {"timestamp__lt", stamp(0), 0, true},
		"before, finer":                 {"timestamp__lt", "2026-11-21T07:00:00.500301Z", 500 * ms, false},
		"at or before, as printed":      {"timestamp__lte", stamp(500 * ms), 500 * ms, false},
		"at or before":                  {"timestamp__lte", stamp(1400 * ms), 1000 * ms, false},
		"exact":                         {"timestamp", stamp(1000 * ms), 1000 * ms, false},
		"exact, as printed":             {"timestamp", stamp(500 * ms), 500 * ms, false},
		"exact, none there":             {"timestamp", stamp(501 * ms), 0, true},
		"at or after":                   {"timestamp__gte", stamp(500 * ms), 500 * ms, false},
		"at or after, next":             {"timestamp__gte", stamp(501 * ms), 1000 * ms, false},
		"after, not the one as printed": {"timestamp__gt", stamp(500 * ms), 1000 * ms, false},
		"after the last":                {"timestamp__gt", stamp(1500 * ms), 0, true},
		"raw plus":                      {"timestamp__lt", "RAW2026-11-21T07:00:01.000+00:00", 500 * ms, false},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			v := url.QueryEscape(c.time)
			if len(c.time) > 3 && c.time[:3] == "RAW" {
				v = c.time[3:]
			}
			r := b.get(imagePath + "deviceId=cam-1&type=preview&" + c.op + "=" + v)
			if c.none {
				r.refused(404, vms.ReasonResource)
				return
			}
			require.Equal(t, 200, r.code, "%s", r.body)
			require.Equal(t, jpeg, r.body)
			require.Equal(t, "image/jpeg", r.header.Get("Content-Type"))
			require.Equal(t, stamp(c.want), r.header.Get("X-Een-Timestamp"))
			require.Equal(t, stamp(c.want), r.header.Get("X-Vms-Timestamp"))
			require.Equal(t, int64(len(jpeg)), int64(len(r.body)))
		})
	}
}

// The tokens of an image's headers walk over all stills, both ways.
func TestImageTokens(t *testing.T) {
	b := newBed(t)
	offsets := []time.Duration{0, 500*time.Millisecond + 300, time.Second, 90 * time.Second}
	b.images = track(offsets...)
	walk := func(header, first string) []string {
		var got []string
		for r := b.get(first); r.code == 200; r = b.get(imagePath + "pageToken=" +
			url.QueryEscape(r.header.Get(header)) + "&whatever=ignored&type=main") {
			got = append(got, r.header.Get("X-Een-Timestamp"))
			require.Equal(t, r.header.Get("X-Een-NextToken"), r.header.Get("X-Vms-NextToken"))
			require.Equal(t, r.header.Get("X-Een-PrevToken"), r.header.Get("X-Vms-PrevToken"))
			require.Less(t, len(got), 10)
		}
		return got
	}
	all := []string{stamp(0), stamp(500 * time.Millisecond), stamp(time.Second), stamp(90 * time.Second)}
	require.Equal(t, all,
		walk("X-Een-NextToken",
			imagePath+"deviceId=cam-1&type=preview&timestamp__gte="+url.QueryEscape(stamp(-time.Hour))))
	require.Equal(t, []string{all[3], all[2], all[1], all[0]},
		walk("X-Vms-PrevToken",
			imagePath+"deviceId=cam-1&type=preview&timestamp__lt="+url.QueryEscape(stamp(time.Hour))))
	for _, q := range b.asked {
		require.Equal(t, "preview", q.Kind, "a token keeps the kind")
	}
	r := b.get(imagePath + "deviceId=cam-2&type=preview&timestamp__lt=" + url.QueryEscape(stamp(time.Hour)))
	b.do("GET", imagePath+"pageToken="+url.QueryEscape(r.header.Get("X-Een-PrevToken")), tokenRestricted,
		"").refused(404, vms.ReasonResource)
}

func TestImageRefuses(t *testing.T) {
	b := newBed(t)
	b.images = func(q ImageQuery) (Image, error) {
		if q.Kind == "main" {
			return Image{}, vms.NewError(503, vms.ReasonDeviceUnavailable, "bridge away")
		}
		return Image{}, errors.New("pixel secret")
	}
	now := "timestamp__lt=" + url.QueryEscape(stamp(0))
	for name, c := range map[string]struct {
		query  string
		code   int
		reason string
		words  []string
	}{
		"nothing": {"", 400, vms.ReasonMissing, []string{"deviceId", "type", "timestamp__lt"}},
		"two operators": {"deviceId=cam-1&type=main&timestamp__gt=2026-11-21T00:00:00Z&" + now, 400, vms.ReasonValue,
			[]string{"only one"}},
		"bad time": {"deviceId=cam-1&type=main&timestamp__lt=noon", 400, vms.ReasonValue,
			[]string{"timestamp__lt"}},
		"bad kind":         {"deviceId=cam-1&type=huge&" + now, 400, vms.ReasonValue, []string{"preview or main"}},
		"bad id":           {"deviceId=a%2Fb&type=main&" + now, 400, vms.ReasonValue, []string{"deviceId"}},
		"unknown argument": {"deviceId=cam-1&type=main&sort=1&" + now, 400, vms.ReasonUnexpected, []string{"sort"}},
		"unknown camera":   {"deviceId=cam-77&type=main&" + now, 404, vms.ReasonResource, []string{"cam-77"}},
		"foreign camera":   {"deviceId=cam-9&type=main&" + now, 404, vms.ReasonResource, nil},
		"bridge away": {"deviceId=cam-1&type=main&" + now, 503, vms.ReasonDeviceUnavailable,
			[]string{"bridge away"}},
		"broken store": {"deviceId=cam-1&type=preview&" + now, 500, vms.ReasonUnexpectedError, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			r := b.do("GET", imagePath+c.query, tokenUser, "", "Accept", "image/jpeg")
			r.refused(c.code, c.reason, c.words...)
			require.NotContains(t, string(r.body), "secret")
		})
	}
	b.t = t
	b.do("GET", imagePath+"deviceId=cam-2&type=main&"+now, tokenRestricted, "").refused(404, vms.ReasonResource)
	b.do("GET", imagePath, tokenReporter, "").refused(403, vms.ReasonPermission)
	b.server.opts.Images = nil
	b.get(imagePath+"deviceId=cam-1&type=main&"+now).refused(404, vms.ReasonResource)
}

func TestImageHead(t *testing.T) {
	b := newBed(t)
	b.images = track(0)
	r := b.do("HEAD", imagePath+"deviceId=cam-1&type=main&timestamp="+url.QueryEscape(stamp(0)), tokenUser, "")
	require.Equal(t, 200, r.code)
	require.Empty(t, r.body)
	require.Equal(t, stamp(0), r.header.Get("X-Een-Timestamp"))
	require.Equal(t, "5003", r.header.Get("Content-Length"))
}

// An image whose source breaks off must not look whole to the client.
func TestImageCutOff(t *testing.T) {
	b := newBed(t)
	for _, length := range []int64{-1, 5003} {
		b.images = func(ImageQuery) (Image, error) {
			r := io.MultiReader(bytes.NewReader(jpeg[:3000]), &failing{})
			return Image{Time: t0, Length: length, Body: io.NopCloser(r)}, nil
		}
		req, err := http.NewRequest("GET",
			b.url+imagePath+"deviceId=cam-1&type=main&timestamp__lt=2027-01-01T00:00:00Z", nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+tokenUser)
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			_, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		require.Error(t, err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the bridge went away") }

func TestOverlayTypes(t *testing.T) {
	b := newBed(t)
	var got struct {
		OverlayID []struct{ ID, Name, Type string }
	}
	b.get("/api/v3.0/media/recordedImage.jpeg:listFieldValues?deviceId=cam-1&include=overlayId").into(200, &got)
	require.Contains(t, got.OverlayID, struct{ ID, Name, Type string }{vms.TypeMotion, "Motion Detection", "event"})
	b.get("/api/v3.0/media/recordedImage.jpeg:listFieldValues").refused(400, vms.ReasonMissing, "deviceId")
	b.get("/api/v3.0/media/recordedImage.jpeg:listFieldValues?deviceId=cam-9").refused(404, vms.ReasonResource)
}
