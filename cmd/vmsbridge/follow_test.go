package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// A follower prints an event when it is new, when it has ended, and when its end has changed; never
// otherwise.
func TestFollowedNews(t *testing.T) {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ongoing := vms.Event{ID: "a", StartTimestamp: vms.At(start)}
	ended := ongoing
	ended.EndTimestamp = vms.Ptr(start.Add(time.Second))
	later := ongoing
	later.EndTimestamp = vms.Ptr(start.Add(2 * time.Second))
	f := followed{state: map[string]vms.Event{}}
	for i, step := range []struct {
		ev   vms.Event
		want bool
	}{{ongoing, true}, {ongoing, false}, {ended, true}, {ended, false}, {later, true}, {later, false},
		{ongoing, true}} {
		require.Equal(t, step.want, f.news(step.ev), "step %d", i)
	}
}

// The window moves on, but never past an event that still goes on, nor nearer to the newest than
// late events need.
func TestFollowedForgets(t *testing.T) {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	f := followed{from: vms.At(start), state: map[string]vms.Event{}}
	add := func(id string, after time.Duration, length time.Duration) {
		ev := vms.Event{ID: id, StartTimestamp: vms.At(start.Add(after))}
		if length > 0 {
			ev.EndTimestamp = vms.Ptr(start.Add(after + length))
		}
		f.news(ev)
	}
	add("old", time.Second, time.Second)
	f.forget()
	require.Equal(t, vms.At(start), f.from, "no nearer than followReach")
	add("long", time.Minute, 0)
	add("new", 10*time.Minute, time.Second)
	f.forget()
	require.Equal(t, vms.At(start.Add(time.Minute)), f.from, "up to what still goes on")
	require.NotContains(t, f.state, "old")
	require.Contains(t, f.state, "long")
	add("long", time.Minute, 5*time.Minute)
	f.forget()
	require.Equal(t, vms.At(start.Add(10*time.Minute-followReach)), f.from)
	require.Len(t, f.state, 1)
}
