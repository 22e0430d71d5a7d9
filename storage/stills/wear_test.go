package stills

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWear(t *testing.T) {
	var w wearMeter
	total, perDay := w.PerDay(0)
	require.Zero(t, total+perDay, "nothing is known in the first minute")
	for up := time.Duration(0); up < 3*time.Hour; up += time.Minute {
		w.Add(1000, up)
	}
	total, perDay = w.PerDay(3 * time.Hour)
	require.EqualValues(t, 180_000, total)
	require.EqualValues(t, 1_440_000, perDay, "in proportion")
	for up := 3 * time.Hour; up < 50*time.Hour; up += time.Minute {
		w.Add(2000, up)
	}
	_, perDay = w.PerDay(50 * time.Hour)
	require.InEpsilon(t, 2_880_000, perDay, 0.01, "the last day")
	_, perDay = w.PerDay(1000 * time.Hour)
	require.Zero(t, perDay, "a day without a write")
	require.Equal(t, 100*day, lifetime(100<<30, 1<<30))
	require.Zero(t, lifetime(100, 0))
	require.Equal(t, 36500*day, lifetime(1<<60, 1))
}
