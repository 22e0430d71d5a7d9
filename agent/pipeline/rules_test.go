package pipeline

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera"
	"vmsbridge/configs"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// withLines looks at the film with a line that the first of its two people crosses, and an area
// that is the whole picture.
func withLines(c *configs.Config) {
	c.Cameras[0].Motion.Lines = []configs.Line{{ID: "door", Name: "Door", Direction: "any",
		Points: configs.Polyline{{0.7, 0}, {0.7, 1}}}}
	c.Cameras[0].Motion.Areas = []configs.Area{{ID: "yard", Name: "Yard", Intrusion: true, Loiter: 3 * time.Second,
		Area: configs.Polygon{{0, 0}, {1, 0}, {1, 1}, {0, 1}}}}
}

// readItem reads the item of a schema in an event's data into v.
func readItem(t *testing.T, ev vms.Event, schema string, v any) {
	t.Helper()
	for _, d := range ev.Data {
		if d.Type == schema {
			require.NoError(t, d.Into(v))
			return
		}
	}
	require.FailNow(t, "no "+schema)
}

// Two people walk through the film. One crosses the line, and both are in the area for long.
func TestLinesAndAreasBecomeEvents(t *testing.T) {
	b := newBench(t, withLines)
	for _, u := range film(t, camera.MJPEG, 0) {
		b.unit(t.Context(), u)
		for key, ev := range b.spans { // what is told has its still, and goes on
			if key == intrusionKey+"yard" {
				require.Contains(t, b.diary.touched, ev.ID)
			}
		}
	}
	b.close()
	require.Empty(t, b.spans)
	events := b.events(t)
	for _, ev := range events {
		require.Empty(t, vms.Check(ev), "%s", ev.ID)
		require.False(t, ev.Ongoing())
	}
	crossed := ofType(events, vms.TypeLineCross)
	require.Len(t, crossed, 1)
	ev := crossed[0]
	require.False(t, ev.Span)
	require.Equal(t, ev.StartTimestamp, *ev.EndTimestamp)
	require.WithinRange(t, ev.StartTimestamp.Time, at(4_000), at(12_000))
	var line struct {
		ID, Name, Direction string
		Line                [][2]float64
	}
	readItem(t, ev, vms.SchemaLineCrossLine, &line)
	require.Equal(t, "door Door", line.ID+" "+line.Name)
	require.Equal(t, [][2]float64{{0.7, 0}, {0.7, 1}}, line.Line)
	var entry struct{ Direction string }
	readItem(t, ev, vms.SchemaEntryDirection, &entry)
	require.Equal(t, map[string]string{"left": vms.EntryIn, "right": vms.EntryOut}[line.Direction], entry.Direction)
	var object struct {
		Timestamp   vms.Time
		BoundingBox [4]float64
	}
	readItem(t, ev, vms.SchemaObject, &object)
	require.InDelta(t, 0.7, (object.BoundingBox[0]+object.BoundingBox[2])/2, 0.15)
	for _, kind := range []stills.Kind{stills.Preview, stills.Main} {
		s, err := b.ring.Find("c", kind, stills.AtOrBefore, object.Timestamp.Time)
		require.NoError(t, err)
		require.WithinDuration(t, object.Timestamp.Time, s.Time, time.Millisecond, "the still of that very picture")
	}
	way := map[string]string{vms.EntryIn: "a-to-b", vms.EntryOut: "b-to-a"}[entry.Direction]
	count := func(way string) float64 {
		return testutil.ToFloat64(b.deps.Metrics.crossings.WithLabelValues("c", "door", way))
	}
	require.Equal(t, 1.0, count(way))
	require.Equal(t, 1.0, count("a-to-b")+count("b-to-a"))

	inside := ofType(events, vms.TypeIntrusion)
	require.Len(t, inside, 2)
	require.WithinDuration(t, at(4_000), inside[0].StartTimestamp.Time, time.Second)
	require.WithinDuration(t, at(12_000), inside[0].EndTimestamp.Time, time.Second)
	loiter := ofType(events, vms.TypeLoiter)
	require.Len(t, loiter, 2)
	require.WithinDuration(t, inside[0].StartTimestamp.Add(3*time.Second), loiter[0].StartTimestamp.Time,
		500*time.Millisecond)
	var area struct {
		ID                  string
		MinimumDwellTimeSec int
	}
	readItem(t, loiter[0], vms.SchemaLoiterArea, &area)
	require.Equal(t, "yard", area.ID)
	require.Equal(t, 3, area.MinimumDwellTimeSec)
}

// A stream that is lost ends what is in an area.
func TestALostStreamEndsWhatIsInside(t *testing.T) {
	b := newBench(t, withLines)
	for _, u := range film(t, camera.MJPEG, 0)[:90] {
		b.unit(t.Context(), u)
	}
	inside := ofType(b.events(t), vms.TypeIntrusion)
	require.Len(t, inside, 1)
	require.True(t, inside[0].Ongoing())
	b.gap()
	inside = ofType(b.events(t), vms.TypeIntrusion)
	require.Len(t, inside, 1)
	require.WithinDuration(t, at(9_000), inside[0].EndTimestamp.Time, time.Second)
}

// Two who cross in one millisecond are two events.
func TestMomentsDiffer(t *testing.T) {
	var m moments
	given := map[time.Time]bool{}
	for range 5 {
		given[vms.At(m.of(at(1_000))).Time] = true
	}
	require.Len(t, given, 5)
	for i := range 2 * maxMoments {
		m.of(at(2_000 + i))
	}
	require.Len(t, m, maxMoments)
}
