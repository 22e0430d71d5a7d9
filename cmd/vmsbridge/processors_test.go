package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
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

// Little garbage waits, unless the installer says how much.
func TestGarbage(t *testing.T) {
	was := debug.SetGCPercent(100)
	defer debug.SetGCPercent(was)
	t.Setenv("GOGC", "60")
	collectOften()
	require.Equal(t, 100, debug.SetGCPercent(100), "Go has read it by itself")
	t.Setenv("GOGC", "")
	collectOften()
	require.Equal(t, garbage, debug.SetGCPercent(100))
}
