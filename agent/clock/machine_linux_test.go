package clock

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The boot time is the kernel's, also after the machine has slept: the monotonic clock stood still
// meanwhile, and the wall clock went on.
func TestBootTimeIsTheKernels(t *testing.T) {
	m := System().(*machine)
	near := func() {
		t.Helper()
		before := bootTime()
		got := m.Boot()
		require.GreaterOrEqual(t, got, before-2*time.Millisecond)
		require.LessOrEqual(t, got, bootTime()+2*time.Millisecond)
	}
	near()
	for _, slept := range []time.Duration{3 * time.Millisecond, time.Minute, 30 * 24 * time.Hour} {
		m.ahead.Add(-int64(slept))
		m.wall.Add(-int64(slept))
		near()
	}
	last := m.Boot()
	for _, set := range []time.Duration{time.Hour, -time.Hour, 2 * time.Millisecond} { // the wall clock is set
		m.wall.Add(int64(set))
		now := m.Boot()
		require.GreaterOrEqual(t, now, last)
		last = now
		near()
	}
}

func BenchmarkBoot(b *testing.B) {
	m := System()
	for b.Loop() {
		m.Boot()
	}
}
