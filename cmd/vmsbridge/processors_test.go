package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
)

// One thread is for a bridge that has been calm for half a minute; a busy one gets all at once.
func TestProcessorsByUse(t *testing.T) {
	p := processors{most: 4, now: 4}
	for range calmLooks - 1 {
		require.Equal(t, 4, p.look(0.1))
	}
	require.Equal(t, 4, p.look(0.5), "not calm")
	for range calmLooks - 1 {
		require.Equal(t, 4, p.look(0.39))
	}
	require.Equal(t, 1, p.look(0.39))
	require.Equal(t, 1, p.look(0.59), "one is enough")
	require.Equal(t, 4, p.look(0.61))
	require.Equal(t, 4, p.look(0.1))
}

// Little garbage waits, of what is in use after each collection, unless the installer says how
// much.
func TestGarbage(t *testing.T) {
	was := debug.SetGCPercent(100)
	defer debug.SetGCPercent(was)
	percent := func() int {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return int(s[0].Value.Uint64())
	}
	t.Setenv("GOGC", "60")
	collectOften()
	require.Equal(t, 100, percent(), "Go has read it by itself")
	t.Setenv("GOGC", "")
	collectOften()
	require.LessOrEqual(t, percent(), mostGarbage)
	for _, bytes := range []int{200 << 20, 1} {
		inUse := make([]byte, bytes)
		harness.Until(t, "that is seen", func() bool {
			runtime.GC()
			return bytes > 1 == (percent() == leastGarbage)
		})
		runtime.KeepAlive(inUse)
	}
	require.Equal(t, []int{50, 50, 18, 12, 12, 12}, []int{garbagePercent(0), garbagePercent(1 << 20),
		garbagePercent(32 << 20), garbagePercent(47 << 20), garbagePercent(60 << 20), garbagePercent(1 << 40)})
}
