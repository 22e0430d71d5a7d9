package pipeline

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/camera/clip"
	"vmsbridge/configs"
	"vmsbridge/motion"
	"vmsbridge/motion/tamper"
	"vmsbridge/uplink/vms"
)

func someAuthor() *author {
	return &author{account: "acc", camera: "gate", baseURL: "http://h", version: "1",
		regions: map[string]motion.Region{"door": {ID: "door", Name: "Door",
			Area: motion.Polygon{{0, 0}, {1, 0}, {1, 1}}}}}
}

// Whatever is told of a span, the event passes the service's own check.
func TestEventsPassTheCheck(t *testing.T) {
	a := someAuthor()
	box := motion.Object{ID: "7", Box: motion.Box{Left: 0.1, Top: 0.2, Right: 0.3, Bottom: 0.9}, Time: at(300)}
	for name, ev := range map[string]vms.Event{
		"began": a.Motion(motion.Change{Kind: motion.Began, Start: at(0), Last: at(400), Object: "7",
			Objects: []motion.Object{box}}),
		"no box": a.Motion(motion.Change{Kind: motion.Began, Start: at(0), Last: at(400), Object: "7"}),
		"ended": a.Motion(motion.Change{Kind: motion.Ended, Start: at(0), Last: at(9000), Object: "7",
			Objects: []motion.Object{box, {ID: "9", Box: box.Box, Time: at(900)}}}),
		"region": a.Motion(motion.Change{Kind: motion.Ended, Region: "door", Start: at(0), Last: at(9000), Object: "7",
			Objects: []motion.Object{box}}),
		"covered": a.Tamper(tamper.Change{Kind: tamper.Began, Reason: tamper.Covered, Start: at(0), Last: at(6000)}),
		"frozen":  a.Tamper(tamper.Change{Kind: tamper.Ended, Reason: tamper.Frozen, Start: at(0), Last: at(-1)}),
	} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, vms.Check(ev))
			require.Equal(t, ev.NaturalID(), ev.ID)
			require.Contains(t, ev.DataSchemas, vms.SchemaFullFrame)
			require.Contains(t, ev.DataSchemas, vms.SchemaCreatorDetails)
		})
	}
}

// Each object has its box, its own number in both reports of the span, and the address of its
// picture.
func TestObjectsOfASpan(t *testing.T) {
	type item struct {
		ObjectID, HTTPSURL string
		Timestamp          vms.Time
		BoundingBox        [4]float64
	}
	things := []motion.Object{{ID: "7", Box: motion.Box{Left: 0.1, Top: 0.2, Right: 0.3, Bottom: 0.9}, Time: at(3000)},
		{ID: "12", Box: motion.Box{Left: 0.5, Top: 0.5, Right: 0.625, Bottom: 0.75}, Time: at(5000)}}
	read := func(kind motion.ChangeKind) (objects, crops []item, overlays int) {
		ev := someAuthor().Motion(motion.Change{Kind: kind, Start: at(0), Last: at(9000), Object: "7", Objects: things})
		for _, d := range ev.Data {
			var v item
			switch d.Type {
			case vms.SchemaObject:
				require.NoError(t, d.Into(&v))
				objects = append(objects, v)
			case vms.SchemaCroppedFrame:
				require.NoError(t, d.Into(&v))
				crops = append(crops, v)
			case vms.SchemaOverlay:
				var o struct{ Overlays []item }
				require.NoError(t, d.Into(&o))
				overlays = len(o.Overlays)
			}
		}
		return objects, crops, overlays
	}
	began, _, _ := read(motion.Began)
	ended, crops, overlays := read(motion.Ended)
	require.Equal(t, began, ended)
	require.Len(t, ended, 2)
	require.Len(t, crops, 2)
	require.Equal(t, 2, overlays)
	for i := range ended {
		require.Regexp(t, `^camera-gate:.+`, ended[i].ObjectID)
		require.Equal(t, ended[i].ObjectID, crops[i].ObjectID)
		require.True(t, crops[i].Timestamp.Equal(things[i].Time))
	}
	require.NotEqual(t, ended[0].ObjectID, ended[1].ObjectID)
	require.Equal(t, [4]float64{0.1, 0.2, 0.3, 0.9}, ended[0].BoundingBox)
	require.Contains(t, crops[1].HTTPSURL, "type=preview&timestamp__lte=")
	require.True(t, strings.HasSuffix(crops[1].HTTPSURL, "#xywh=percent:50.00,50.00,12.50,25.00"), crops[1].HTTPSURL)
}

// TestTheImageOfAnEndedMotionIsItsBest: while it goes on that is not known yet.
func TestTheImageOfAnEndedMotionIsItsBest(t *testing.T) {
	read := func(kind motion.ChangeKind) (urls []string) {
		ev := someAuthor().Motion(motion.Change{Kind: kind, Start: at(0), Last: at(9000), BestTime: at(4000)})
		for _, d := range ev.Data {
			if d.Type != vms.SchemaFullFrame {
				continue
			}
			var image struct{ HTTPSURL string }
			require.NoError(t, d.Into(&image))
			urls = append(urls, image.HTTPSURL)
		}
		return urls
	}
	began, ended := read(motion.Began), read(motion.Ended)
	require.Equal(t, someAuthor().imageURLs(vms.OpBefore, at(500)), began)
	require.Equal(t, someAuthor().imageURLs(vms.OpAtOrBefore, at(4000)), ended)
}

// imageURLs are the addresses of a picture of a time, as preview and in full.
func (a *author) imageURLs(op string, t time.Time) []string {
	return []string{vms.ImageURL(a.baseURL, a.camera, vms.ImagePreview, op, t),
		vms.ImageURL(a.baseURL, a.camera, vms.ImageMain, op, t)}
}

// region is what an event says of its region.
type region struct {
	ID, Name string
	Area     [][2]float64
}

func regionOf(t *testing.T, ev vms.Event) (r region) {
	t.Helper()
	for _, d := range ev.Data {
		if d.Type == vms.SchemaMotionRegion {
			require.NoError(t, d.Into(&r))
		}
	}
	return r
}

var (
	leftHalf  = configs.Polygon{{0, 0}, {0.45, 0}, {0.45, 1}, {0, 1}}
	rightHalf = configs.Polygon{{0.55, 0}, {1, 0}, {1, 1}, {0.55, 1}}
	sky       = configs.Polygon{{0, 0}, {1, 0}, {1, 0.12}, {0, 0.12}}
)

// A person walks from the left to the right: each region has its own span, at its own time, and its
// event says which it is.
func TestRegionsHaveEventsOfTheirOwn(t *testing.T) {
	b := newBench(t, func(c *configs.Config) {
		c.Cameras[0].Motion.Regions = []configs.Region{{ID: "l", Name: "Left", Area: leftHalf},
			{ID: "r", Name: "Right", Area: rightHalf},
			{ID: "sky", Name: "Sky", Area: sky}}
	})
	for _, u := range film(t, camera.MJPEG, 0)[:150] {
		b.unit(t.Context(), u)
	}
	b.close()
	spans := map[string][]vms.Event{}
	for _, ev := range ofType(b.events(t), vms.TypeMotionInRegion) {
		require.Empty(t, vms.Check(ev))
		r := regionOf(t, ev)
		require.NotEmpty(t, r.Name)
		spans[r.ID] = append(spans[r.ID], ev)
	}
	require.Len(t, spans["l"], 1)
	require.Len(t, spans["r"], 1)
	require.Empty(t, spans["sky"], "nobody walks there")
	require.True(t, spans["r"][0].StartTimestamp.After(spans["l"][0].StartTimestamp.Add(2*time.Second)))
	require.True(t, spans["l"][0].EndTimestamp.Before(spans["r"][0].EndTimestamp.Add(-2*time.Second)))
	require.Equal(t, [][2]float64(leftHalf), regionOf(t, spans["l"][0]).Area)
	require.Len(t, ofType(b.events(t), vms.TypeMotion), 1, "the whole picture has its own")
}

// Two regions that overlap see the same thing begin and end with the same picture: they have an
// event each all the same, whose begin and end are one.
func TestRegionsThatOverlap(t *testing.T) {
	b := newBench(t, func(c *configs.Config) {
		c.Cameras[0].Motion.Regions = []configs.Region{{ID: "a", Area: leftHalf}, {ID: "b", Area: leftHalf},
			{ID: "c", Area: leftHalf}}
	})
	for _, u := range film(t, camera.MJPEG, 0)[:150] {
		b.unit(t.Context(), u)
	}
	b.close()
	ids, regions := map[string]string{}, map[string]bool{}
	var first time.Time
	for _, ev := range ofType(b.events(t), vms.TypeMotionInRegion) {
		require.Empty(t, vms.Check(ev))
		require.NotContains(t, ids, ev.ID, "an event of its own")
		require.False(t, ev.Ongoing())
		r := regionOf(t, ev).ID
		ids[ev.ID], regions[r] = r, true
		if first.IsZero() {
			first = ev.StartTimestamp.Time
		}
		require.WithinDuration(t, first, ev.StartTimestamp.Time, 5*time.Millisecond)
	}
	require.Len(t, regions, 3)
	require.Len(t, ids, 3)
}

// The start that an event was given stays, and those of different regions differ by the
// millisecond, of which an id is made.
func TestStarts(t *testing.T) {
	var s starts
	require.Equal(t, at(1000), s.of("a", at(1000)))
	require.Equal(t, at(1001), s.of("b", at(1000)))
	near := at(1000).Add(300 * time.Microsecond)
	require.Equal(t, near.Add(2*time.Millisecond), s.of("c", near))
	require.Equal(t, at(1000), s.of("a", at(1000)))
	require.Equal(t, at(1001), s.of("b", at(1000)))
	require.Equal(t, at(2000), s.of("b", at(2000)))
	require.Equal(t, at(2001), s.of("a", at(2000)))
	require.Equal(t, at(2000), s.of("b", at(2000)))
}

// Someone far away, a thousandth of the picture, is a matter of a region's own sensitivity.
func TestRegionsHaveTheirOwnSensitivity(t *testing.T) {
	all := configs.Polygon{{0, 0}, {1, 0}, {1, 1}, {0, 1}}
	b := newBench(t, func(c *configs.Config) {
		c.Cameras[0].Motion.Regions = []configs.Region{{ID: "numb", Area: all, Sensitivity: 0.01},
			{ID: "keen", Area: all, Sensitivity: 0.9}}
	})
	for _, u := range unitsOf(clip.Draw(t, "--scene", "far", "--codec", "mjpeg", "--size", "320x176", "--fps", "10")) {
		b.unit(t.Context(), u)
	}
	b.close()
	found := map[string]int{}
	for _, ev := range ofType(b.events(t), vms.TypeMotionInRegion) {
		found[regionOf(t, ev).ID]++
	}
	require.Positive(t, found["keen"])
	require.Zero(t, found["numb"])
}

// What lies behind a mask moves unseen.
func TestMasksHide(t *testing.T) {
	b := newBench(t, func(c *configs.Config) {
		c.Cameras[0].Motion.Masks = []configs.Polygon{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}}
	})
	half := newBench(t, func(c *configs.Config) { c.Cameras[0].Motion.Masks = []configs.Polygon{leftHalf} })
	for _, u := range film(t, camera.MJPEG, 0)[:150] {
		b.unit(t.Context(), u)
		half.unit(t.Context(), u)
	}
	b.close()
	half.close()
	require.Empty(t, ofType(b.events(t), vms.TypeMotion))
	seen := ofType(half.events(t), vms.TypeMotion)
	require.Len(t, seen, 1)
	require.True(t, seen[0].StartTimestamp.After(at(6000)),
		"he comes out from behind the mask in the middle of his way")
	for _, d := range seen[0].Data {
		var o struct{ BoundingBox [4]float64 }
		if d.Type == vms.SchemaObject {
			require.NoError(t, d.Into(&o))
			require.GreaterOrEqual(t, o.BoundingBox[0], 0.4)
		}
	}
}
