package motion

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion/plane"
)

// TestRestless: a place where something moves that goes nowhere becomes restless within seconds,
// and calm again within a minute; who passes by teaches nothing.
func TestRestless(t *testing.T) {
	d, err := New(Config{})
	require.NoError(t, err)
	d.resize(320, 180)
	d.finder.Label(d.solid, d.model.parked)
	const cell = 40*160 + 50
	run := func(seconds float64, passing uint64) {
		for range int(10 * seconds) {
			d.at += 100 * time.Millisecond
			d.habit.learn(d, passing, 100*time.Millisecond)
		}
	}
	d.flags[cell] = cellMoved
	run(2, 0)
	require.Less(t, d.habit.memory[cell], restlessAt)
	run(2, 0)
	require.GreaterOrEqual(t, d.habit.memory[cell], restlessAt)
	d.flags[cell] = 0
	run(60, 0)
	require.Zero(t, d.habit.memory[cell])

	d.flags[cell], d.solid[cell] = cellMoved|cellFore, 1
	d.finder.Label(d.solid, d.model.parked)
	now := make([]uint16, d.grid.cells())
	v := d.views(now, now, now, plane.Same, plane.Same)
	require.Len(t, d.finder.Collect(&v, 1), 1)
	run(5, 1)
	require.Zero(t, d.habit.memory[cell], "it is on its way")
	run(dwellsAfter.Seconds(), 0)
	require.NotZero(t, d.habit.memory[cell], "it dwells")
}
