package vms

import (
	"encoding/json"
	"math"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDataItems(t *testing.T) {
	for name, c := range map[string]struct {
		item Data
		want string
	}{
		"creator": {CreatorDetails("", CreatorInfo{ID: "b-1", Vendor: "vmsbridge", Version: "1.0"}),
			`{"type":"vms.creatorDetails.v1","creatorId":"vms.bridgeMotion","id":"b-1","vendor":"vmsbridge","version":"1.0"}`},
		"object": {ObjectDetection("x", "camera-1:7", at, [4]float64{-1, 0.123456, 2, math.NaN()}),
			`{"type":"vms.objectDetection.v1","creatorId":"x","objectId":"camera-1:7","timestamp":"2026-11-21T07:10:00.123+00:00","boundingBox":[0,0.1235,1,0]}`},
		"full frame": {FullFrameImageURL("", "https://x/y", at, ImagePreview),
			`{"type":"vms.fullFrameImageUrl.v1","creatorId":"vms.bridgeMotion","httpsUrl":"https://x/y","timestamp":"2026-11-21T07:10:00.123+00:00","feedType":"preview"}`},
		"full frame, feed not said": {FullFrameImageURL("", "https://x/y", at, ""),
			`{"type":"vms.fullFrameImageUrl.v1","creatorId":"vms.bridgeMotion","httpsUrl":"https://x/y","timestamp":"2026-11-21T07:10:00.123+00:00"}`},
		"cropped": {CroppedFrameImageURL("", "a:1", "https://x/y", at),
			`{"type":"vms.croppedFrameImageUrl.v1","creatorId":"vms.bridgeMotion","objectId":"a:1","httpsUrl":"https://x/y","timestamp":"2026-11-21T07:10:00.123+00:00"}`},
		"region": {MotionRegion("", "r1", "Door", [][2]float64{{0, 0}, {1, 0}, {math.Inf(1), 1}}),
			`{"type":"vms.motionRegion.v1","creatorId":"vms.bridgeMotion","id":"r1","name":"Door","area":[[0,0],[1,0],[1,1]]}`},
		"overlay": {BoundingBoxOverlay([]OverlayBox{{Label: "motion", At: at, Box: [4]float64{0, 0, 0.5, 0.5}}}),
			`{"type":"vms.displayOverlay.boundingBox.v1","creatorId":"vms.eventOverlays","overlays":[{"label":"motion","timestamp":"2026-11-21T07:10:00.123+00:00","labelLocation":"topLeft","color":"#ff0000","lineWidth":2,"boundingBox":[0,0,0.5,0.5]}]}`},
		"no overlay": {BoundingBoxOverlay(nil),
			`{"type":"vms.displayOverlay.boundingBox.v1","creatorId":"vms.eventOverlays","overlays":[]}`},
		"status": {DeviceCloudStatusUpdate(CreatorHealth, StatusOnline),
			`{"type":"vms.deviceCloudStatusUpdate.v1","creatorId":"vms.systemHealth","newStatus":{"connectionStatus":"online"}}`},
		"previous": {DeviceCloudPreviousStatus(CreatorHealth, StatusDeviceOffline, at, 2*time.Minute),
			`{"type":"vms.deviceCloudPreviousStatus.v1","creatorId":"vms.systemHealth","connectionStatus":"deviceOffline","startTimestamp":"2026-11-21T07:10:00.123+00:00","duration":120000}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(c.item)
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
			require.Empty(t, checkItem("item", c.item), "what we make passes our own check")
		})
	}
}

func TestSetData(t *testing.T) {
	ev := good()
	ev.SetData(ObjectDetection("", "a:1", at, [4]float64{}), CreatorDetails("", CreatorInfo{}),
		ObjectDetection("", "a:2", at, [4]float64{}))
	require.Equal(t, []string{SchemaObject, SchemaCreatorDetails}, ev.DataSchemas)
	require.Len(t, ev.Data, 3)
	ev.SetData()
	raw, err := json.Marshal(ev)
	require.NoError(t, err)
	require.Contains(t, string(raw), `"dataSchemas":[],"data":[]`)
}

func TestImageURL(t *testing.T) {
	for _, op := range []string{OpBefore, "lt"} {
		got := ImageURL("http://h:1/base/", "a&b=c", ImageMain, op, at.Add(400*time.Microsecond))
		u, err := url.Parse(got)
		require.NoError(t, err)
		require.Equal(t, "/base/api/v3.0/media/recordedImage.jpeg", u.Path)
		require.Equal(t, url.Values{"deviceId": {"a&b=c"}, "type": {"main"},
			"timestamp__lt": {"2026-11-21T07:10:00.123+00:00"}}, u.Query())
		require.Contains(t, got, "%2B00%3A00", "the plus is escaped")
	}
	require.Contains(t, ImageURL("http://h", "c", ImageMain, "", at), "&timestamp=")
}

func TestBadRequest(t *testing.T) {
	require.Nil(t, BadRequest(nil))
	e := BadRequest([]Problem{{"b", ReasonUnexpected, ""}, {"c", ReasonUnexpected, ""}, {"name", ReasonMissing, ""},
		{"size", ReasonValue, "too big"}})
	require.Equal(t, "Unexpected argument: b, c; Missing required arguments: name; Invalid Argument: size: too big",
		e.Message)
	require.Equal(t, ReasonUnexpected, e.Reason())
	raw, err := json.Marshal(e)
	require.NoError(t, err)
	require.JSONEq(
		t, `{"code":400,"status":"invalidArgument","message":"Unexpected argument: b, c; Missing required arguments: name; Invalid Argument: size: too big",
		"details":[{"type":"errorInfo","reason":"unexpectedArgument","domain":"apiv3"},{"type":"badRequest","argumentViolations":[{"argumentName":"size","description":"too big"}]}]}`, string(raw))
	raw, err = json.Marshal(NotFound("cameras", "", "a", "b"))
	require.NoError(t, err)
	require.JSONEq(t, `{"code":404,"status":"notFound","message":"The resource was not found",
		"details":[{"type":"errorInfo","reason":"resourceNotFound","domain":"apiv3"},{"type":"resourceInfo","resource":"cameras","ids":["a","b"]}]}`, string(raw))
	require.Equal(t, "internal", NewError(599, "x", "").Status)
}

func FuzzParseRegistration(f *testing.F) {
	for _, s := range []string{
		`{"id":"b","name":"B","address":"http://h:1","imageToken":"t","cameras":[{"id":"c","name":"C","connectionStatus":"online"}]}`,
		`{"id":"b","address":"http://[::1]:1"}`, `{"id":"b","address":"http://h/%zz"}`, `{}`, `null`,
		`{"address":"http:opaque"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, problems := ParseRegistration(body)
		if len(problems) > 0 || r.Address == "" {
			return
		}
		u, err := url.Parse(r.Address)
		if err != nil || u.Hostname() == "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") {
			t.Fatalf("address %q was let through", r.Address)
		}
		// What is asked of it stays on that host.
		img, err := url.Parse(ImageURL(r.Address, "c", ImageMain, OpBefore, at))
		if err != nil || img.Host != u.Host || img.Scheme != u.Scheme {
			t.Fatalf("an image of %q is asked at %v, %v", r.Address, img, err)
		}
	})
}
