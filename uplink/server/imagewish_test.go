package server

import (
	"bytes"
	"image"
	stdjpeg "image/jpeg"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// grey is a real picture of 640x360.
func grey(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, stdjpeg.Encode(&out, image.NewGray(image.Rect(0, 0, 640, 360)), nil))
	return out.Bytes()
}

// pictured is a bed whose cameras have one still, at t0.
func pictured(t *testing.T) *bed {
	b, picture := newBed(t), grey(t)
	b.images = func(ImageQuery) (Image, error) {
		return Image{Time: t0, Length: int64(len(picture)), Body: io.NopCloser(bytes.NewReader(picture))}, nil
	}
	return b
}

const oldStill = imagePath + "deviceId=cam-1&type=preview&timestamp__lt=2026-11-22T00:00:00Z"

func TestImageOfAnotherSize(t *testing.T) {
	b := pictured(t)
	tags := map[string]bool{}
	for query, size := range map[string]image.Point{
		"":                                 {X: 640, Y: 360},
		"&targetWidth=160":                 {X: 160, Y: 90},
		"&targetHeight=90":                 {X: 160, Y: 90},
		"&targetWidth=320&targetHeight=90": {X: 160, Y: 90},
		"&xywh=percent:25,50,50,50":        {X: 320, Y: 180},
		"&xywh=percent:0,0,50,100&targetWidth=32": {X: 32, Y: 36},
	} {
		r := b.get(oldStill + query)
		require.Equal(t, 200, r.code, "%s: %s", query, r.body)
		head, err := stdjpeg.DecodeConfig(bytes.NewReader(r.body))
		require.NoError(t, err)
		require.Equal(t, size, image.Pt(head.Width, head.Height), query)
		require.Equal(t, settledTime, r.header.Get("Cache-Control"))
		tags[r.header.Get("ETag")] = true
		require.Equal(t, 304, b.do("GET", oldStill+query, tokenUser, "", "If-None-Match", r.header.Get("ETag")).code)
		other := b.do("GET", oldStill+query, tokenUser, "", "If-None-Match", vms.ImageTag(vms.ImagePreview, t0, "-0"))
		require.Equal(t, r.body, other.body, "what is held is of another form")
		// A neighbour looks alike.
		r = b.get(imagePath + "pageToken=" + url.QueryEscape(r.header.Get("X-Vms-PrevToken")))
		head, err = stdjpeg.DecodeConfig(bytes.NewReader(r.body))
		require.NoError(t, err)
		require.Equal(t, size, image.Pt(head.Width, head.Height), query)
	}
	require.Len(t, tags, 6, "each has an ETag of its own")
	live := b.get("/api/v3.0/media/liveImage.jpeg?deviceId=cam-1&xywh=percent:0,0,50,50&targetWidth=320&targetHeight=32" +
		"&include=overlaySvgHeader&overlayId__in=" + vms.TypeMotion)
	head, err := stdjpeg.DecodeConfig(bytes.NewReader(live.body))
	require.NoError(t, err, "%s", live.body)
	require.Equal(t, image.Pt(57, 32), image.Pt(head.Width, head.Height), "the newest one, too")
	for query, words := range map[string]string{
		"targetWidth=31": "targetWidth", "targetWidth=x": "from 32 to 7680", "targetHeight=4321": "targetHeight",
		"xywh=1,2,3,4": "percent:", "xywh=percent:90,0,20,10": "percent:", "xywh=percent:NaN,0,1,1": "percent:",
		"include=magic": "overlayEmbedded",
	} {
		b.get(oldStill+"&"+query).refused(400, vms.ReasonValue, words)
	}
	b.get(oldStill+"&include=overlayEmbedded").refused(400, vms.ReasonMissing, "overlayId__in")
	b.images = track(0) // it is no picture
	b.get(oldStill+"&targetWidth=32").refused(422, vms.ReasonValue, "ask for it without")
}

// The boxes and regions of what goes on at an image's time are drawn into it, or told as SVG.
func TestImageOverlays(t *testing.T) {
	b := pictured(t)
	ev := motion("cam-1", 0, 10*time.Second)
	ev.StartTimestamp, ev.EndTimestamp = vms.At(t0), vms.Ptr(vms.At(t0.Add(10*time.Second)).Time)
	ev.SetData(
		vms.BoundingBoxOverlay([]vms.OverlayBox{{Label: "größe <b>", At: t0, Box: [4]float64{0.25, 0.25, 0.75, 0.75}},
			{At: t0.Add(5 * time.Second), Box: [4]float64{0, 0, 0.1, 0.1}}}),
		vms.MotionRegion("", "r1", "yard", [][2]float64{{0.9, 0.9}, {1, 0.9}, {1, 1}}),
		vms.LineCrossLine("", "l1", "drive", [2][2]float64{{0.5, 0.9}, {0.6, 0.9}}, "up"),
		vms.LoiterArea("", "a1", "lawn", [][2]float64{{0.7, 0.9}, {0.8, 0.9}, {0.8, 1}}, time.Minute))
	over := ev
	over.StartTimestamp, over.EndTimestamp = vms.At(t0.Add(-time.Minute)), vms.Ptr(vms.At(t0.Add(-30*time.Second)).Time)
	over.SetData(vms.MotionRegion("", "r2", "over", [][2]float64{{0, 0}, {1, 0}, {1, 1}}))
	b.put(ev, over)
	wish := oldStill + "&overlayId__in=" + vms.TypeMotion + "&include="
	r := b.get(wish + "overlayEmbedded,overlaySvgHeader")
	require.Equal(t, 200, r.code, "%s", r.body)
	img, err := stdjpeg.Decode(bytes.NewReader(r.body))
	require.NoError(t, err)
	red, green, _, _ := img.At(160, 180).RGBA()
	require.Greater(t, red>>8, uint32(150), "the left side of the box is drawn")
	require.Less(t, green>>8, uint32(80))
	red, _, _, _ = img.At(320, 180).RGBA()
	require.Less(t, red>>8, uint32(40), "its inside is not")
	svg := r.header.Get("X-Een-OverlaySvg")
	require.Equal(t, svg, r.header.Get("X-Vms-OverlaySvg"))
	require.Contains(t, svg, `points="0.25,0.25 0.75,0.25 0.75,0.75 0.25,0.75"`)
	require.Contains(t, svg, "gr&#246;&#223;e &lt;b&gt;")
	require.Contains(t, svg, "yard")
	require.Contains(t, svg, `points="0.5,0.9 0.6,0.9"`)
	require.Contains(t, svg, "drive")
	require.Contains(t, svg, "lawn")
	require.NotContains(t, svg, "over<")
	require.NotContains(t, svg, "0.1,0.1", "a box of another time")
	require.Equal(t, "private, no-cache", r.header.Get("Cache-Control"))
	require.Empty(t, r.header.Get("ETag"))

	r = b.get(wish + "overlaySvgHeader")
	require.Equal(t, grey(t), r.body, "the image itself is as it was")
	require.NotEmpty(t, r.header.Get("X-Een-OverlaySvg"))
}

// The catalogue's picture with boxes: an event is handed out with its addresses, signed if wanted,
// and what they open has the boxes.
func TestOverlayAddressesOfAnEvent(t *testing.T) {
	b := pictured(t)
	ev := motion("cam-1", 0, 10*time.Second)
	ev.StartTimestamp, ev.EndTimestamp = vms.At(t0), vms.Ptr(vms.At(t0.Add(10*time.Second)).Time)
	ev.SetData(vms.FullFrameImageURL("", vms.ImageURL("http://elsewhere:1", "cam-1", vms.ImagePreview, vms.OpAtOrBefore,
		t0), t0, vms.ImagePreview),
		vms.BoundingBoxOverlay([]vms.OverlayBox{{Label: "motion", At: t0, Box: [4]float64{0.25, 0.25, 0.75, 0.75}}}))
	b.put(ev)
	path := "/api/v3.0/events/" + url.PathEscape(ev.ID) + "?include=data.vms.fullFrameImageUrlWithOverlay.v1"
	item := func(path string) (at struct{ OverlaySvgHeaderURL, OverlayEmbeddedURL string }) {
		var got vms.Event
		b.get(path).into(200, &got)
		require.Len(t, got.Data, 1, "only what is asked for")
		require.Contains(t, got.DataSchemas, vms.SchemaFullFrameOverlay)
		require.NoError(t, got.Data[0].Into(&at))
		return at
	}
	plain, signed := item(path), item(path+",signedUrls")
	require.NotContains(t, plain.OverlayEmbeddedURL, argSignature)
	require.NotEqual(t, signed.OverlayEmbeddedURL, signed.OverlaySvgHeaderURL)
	const here = "https://vms.example"
	for _, r := range []reply{b.get(strings.TrimPrefix(plain.OverlayEmbeddedURL, here)),
		b.do("GET", strings.TrimPrefix(signed.OverlayEmbeddedURL, here), "", "")} {
		require.Equal(t, 200, r.code, "%s", r.body)
		img, err := stdjpeg.Decode(bytes.NewReader(r.body))
		require.NoError(t, err)
		red, green, _, _ := img.At(160, 180).RGBA()
		require.Greater(t, red>>8, uint32(150), "the left side of the box is drawn")
		require.Less(t, green>>8, uint32(80))
	}
	for _, r := range []reply{b.get(strings.TrimPrefix(plain.OverlaySvgHeaderURL, here)),
		b.do("GET", strings.TrimPrefix(signed.OverlaySvgHeaderURL, here), "", "")} {
		require.Equal(t, 200, r.code, "%s", r.body)
		require.Contains(t, r.header.Get("X-Een-OverlaySvg"), `points="0.25,0.25 0.75,0.25 0.75,0.75 0.25,0.75"`)
	}
	b.do("GET", strings.Replace(strings.TrimPrefix(signed.OverlayEmbeddedURL, here), "overlayEmbedded",
		"overlaySvgHeader", 1), "", "").
		refused(401, vms.ReasonUnauthenticated, "was changed")
}
