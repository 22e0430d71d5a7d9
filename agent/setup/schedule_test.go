package setup

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/configs"
)

// All cameras get nights, one of them its own times and then those of all again: the file has them,
// the bridge reads it at once, and what cannot be kept, or was not seen, changes nothing.
func TestSchedule(t *testing.T) {
	b := newBench(t, begun)
	nights, err := configs.ParseWeekTime("mon-fri 18:00-07:00")
	require.NoError(t, err)
	was, err := b.Schedules()
	require.NoError(t, err)
	require.Empty(t, was.All)
	require.False(t, was.Cameras[0].Own)
	now, err := b.Schedule(t.Context(), was.Version, "", []configs.WeekTime{nights})
	require.NoError(t, err)
	require.Equal(t, []configs.WeekTime{nights}, now.All)
	require.Contains(t, b.text(), "\narm:\n  schedule:\n    - \"mon-fri 18:00-07:00\"\n")
	require.Equal(t, []string{"mon-fri 18:00-07:00"}, b.load()[0].Arm.Schedule)
	require.Len(t, b.reloads, 1)

	_, err = b.Schedule(t.Context(), was.Version, "", nil)
	require.ErrorContains(t, err, "Somebody else changed")
	_, err = b.Schedule(t.Context(), now.Version, "attic", nil)
	require.ErrorContains(t, err, "no camera attic")
	before := b.text()
	b.problems = []string{"no room"}
	_, err = b.Schedule(t.Context(), now.Version, "gate", []configs.WeekTime{})
	require.ErrorContains(t, err, "no room")
	require.Equal(t, before, b.text())
	b.problems = nil

	own, err := b.Schedule(t.Context(), now.Version, "gate", []configs.WeekTime{})
	require.NoError(t, err)
	require.True(t, own.Cameras[0].Own)
	require.Empty(t, own.Cameras[0].Times)
	require.Empty(t, b.load()[0].Arm.Schedule)
	again, err := b.Schedule(t.Context(), own.Version, "gate", nil)
	require.NoError(t, err)
	require.Equal(t, now, again)
	require.Equal(t, before, b.text())
	reloads := len(b.reloads)
	_, err = b.Schedule(t.Context(), again.Version, "gate", nil)
	require.NoError(t, err)
	require.Len(t, b.reloads, reloads, "the same again is no change")
}
