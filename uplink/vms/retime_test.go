package vms

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Every time of an event moves, in its data and its addresses too, and nothing else does.
func TestRetimed(t *testing.T) {
	start := time.Date(1970, 1, 1, 0, 3, 4, 567e6, time.UTC)
	ev := Event{Type: TypeMotion, ActorID: "gate", ActorType: ActorCamera, StartTimestamp: At(start),
		EndTimestamp: Ptr(start.Add(5 * time.Second)), Span: true}
	mid := start.Add(time.Second)
	ev.SetData(CreatorDetails("", CreatorInfo{ID: "x", Vendor: "v", Version: "1.2"}),
		ObjectDetection("", ObjectID(ActorCamera, "gate", "7"), mid, [4]float64{0, 0.1, 0.2, 0.3}),
		FullFrameImageURL("", ImageURL("http://h", "gate", ImagePreview, OpBefore, mid), mid, ImagePreview),
		DeviceCloudPreviousStatus("", StatusOnline, start.Add(-time.Hour), time.Hour))
	ev.ID = ev.NaturalID()
	before, err := json.Marshal(ev)
	require.NoError(t, err)
	const by = 20000*24*time.Hour + 1234*time.Millisecond
	moved := ev.Retimed(func(t time.Time) time.Time { return t.Add(by) })
	again, err := json.Marshal(ev)
	require.NoError(t, err)
	require.JSONEq(t, string(before), string(again), "the event itself stays")
	require.Equal(t, moved.NaturalID(), moved.ID)
	require.True(t, moved.StartTimestamp.Equal(start.Add(by)))
	require.True(t, moved.EndTimestamp.Equal(start.Add(by+5*time.Second)))
	after, err := json.Marshal(moved)
	require.NoError(t, err)
	require.NotContains(t, string(after), "1970-01-0")
	require.NotContains(t, string(after), "1969-")
	require.Contains(t, string(after), "timestamp__lt="+strings.NewReplacer(":", "%3A", "+",
		"%2B").Replace(At(mid.Add(by)).String()))
	require.Equal(t, ev, moved.Retimed(func(t time.Time) time.Time { return t.Add(-by) }), "and back")

	ev.ID = "another's"
	require.Equal(t, "another's", ev.Retimed(func(t time.Time) time.Time { return t.Add(by) }).ID)
	d := ev.Data[0].WithField("clock", map[string]int{"slackMs": 7})
	var got struct {
		Vendor string
		Clock  struct{ SlackMs int }
	}
	require.NoError(t, d.Into(&got))
	require.Equal(t, "v", got.Vendor)
	require.Equal(t, 7, got.Clock.SlackMs)
}
