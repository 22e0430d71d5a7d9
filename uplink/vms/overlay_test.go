package vms

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An event with boxes and a picture of its own camera gets the addresses of that picture with them,
// once; no other event does, and the event that was given stays as it is.
func TestWithOverlayImage(t *testing.T) {
	at := time.Date(2026, 11, 21, 7, 10, 0, 123e6, time.UTC)
	boxes := BoundingBoxOverlay([]OverlayBox{{Label: "motion", At: at, Box: [4]float64{0, 0, 0.5, 0.5}}})
	own := FullFrameImageURL("", ImageURL("https://here", "cam 1", ImagePreview, OpAtOrBefore, at), at, ImagePreview)
	other := FullFrameImageURL("", ImageURL("https://here", "cam 10", ImagePreview, OpAtOrBefore, at), at, ImagePreview)
	foreign := FullFrameImageURL("", "https://there/picture.jpeg", at, "")
	reported := FullFrameImageURLWithOverlay("https://there/a", "https://there/b")
	for name, c := range map[string]struct {
		items []Data
		want  bool
	}{
		"boxes and a picture":         {[]Data{foreign, other, own, boxes}, true},
		"no boxes":                    {[]Data{own}, false},
		"no picture":                  {[]Data{boxes}, false},
		"another camera's picture":    {[]Data{other, foreign, boxes}, false},
		"it has one, of its reporter": {[]Data{own, boxes, reported}, false},
	} {
		ev := Event{Type: TypeMotion, ActorID: "cam 1", ActorType: ActorCamera}
		ev.SetData(c.items...)
		got := ev.WithOverlayImage()
		require.Len(t, ev.Data, len(c.items), name)
		if !c.want {
			require.Equal(t, ev, got, name)
			continue
		}
		require.Len(t, got.Data, len(c.items)+1, name)
		require.Equal(t, SchemaFullFrameOverlay, got.DataSchemas[len(got.DataSchemas)-1])
		require.Equal(t, got, got.WithOverlayImage(), "once")
		raw, err := json.Marshal(got.WithImagesAt("http://lan:1").Data[len(c.items)])
		require.NoError(t, err)
		const address = "http://lan:1/api/v3.0/media/recordedImage.jpeg?deviceId=cam+1&type=preview" +
			"&timestamp__lte=2026-11-21T07%3A10%3A00.123%2B00%3A00" +
			"&overlayId__in=vms.motionDetectionEvent.v1&include="
		require.JSONEq(t, `{"type":"vms.fullFrameImageUrlWithOverlay.v1","creatorId":"vms.eventOverlays",
			"overlaySvgHeaderUrl":"`+address+`overlaySvgHeader","overlayEmbeddedUrl":"`+address+`overlayEmbedded"}`, string(raw))
	}
}
