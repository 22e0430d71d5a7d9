package journal

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// What goes on of an actor is found among its other events, those of other actors whose ids begin
// alike, and other types.
func TestOngoingOf(t *testing.T) {
	j, err := Open(filepath.Join(t.TempDir(), "journal.db"), Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	start := time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)
	put := func(actor, kind string, minute int, length time.Duration) string {
		ev := vms.Event{Type: kind, StartTimestamp: vms.At(start.Add(time.Duration(minute) * time.Minute)), Span: true,
			ActorID: actor, ActorType: vms.ActorCamera}
		if length > 0 {
			ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(length))
		}
		ev.ID = ev.NaturalID()
		require.NoError(t, j.Put(ev, false))
		return ev.ID
	}
	var want []string
	for i, length := range []time.Duration{time.Second, 10 * time.Minute, 0, 100 * 24 * time.Hour, 0} {
		for _, kind := range []string{vms.TypeMotion, vms.TypeDeviceStatus} {
			if id := put("cam", kind, i, length); length == 0 {
				want = append(want, id)
			}
			put("cam-2", kind, i, length)
			put("ca", kind, i, length)
		}
	}
	got, err := j.OngoingOf(vms.Actor{Type: vms.ActorCamera, ID: "cam"}, vms.Actor{Type: vms.ActorBridge, ID: "cam"},
		vms.Actor{Type: vms.ActorCamera, ID: "none"})
	require.NoError(t, err)
	var ids []string
	for _, ev := range got {
		ids = append(ids, ev.ID)
	}
	require.ElementsMatch(t, want, ids)

	put("cam", vms.TypeMotion, 2, time.Second)
	got, err = j.OngoingOf(vms.Actor{Type: vms.ActorCamera, ID: "cam"})
	require.NoError(t, err)
	require.Len(t, got, len(want)-1, "one has ended")
	require.False(t, slices.ContainsFunc(got, func(ev vms.Event) bool { return !ev.Ongoing() }))
}
