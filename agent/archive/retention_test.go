package archive

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAgeCountsOnlyByASteadyClock steps the clock a thousand times, by seconds to decades; an
// event's age counts only when the last hour had no step in it.
func TestAgeCountsOnlyByASteadyClock(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	start := time.Now()
	require.NotEqual(t, start.Round(0).String(), start.String(), "it carries the monotonic clock")
	c := steady{since: start}
	require.Zero(t, c.lasts(start))
	require.Equal(t, housekeepEvery, c.lasts(start.Add(housekeepEvery)), "without a step")

	// What moves the wall clock alone cannot be made by adding; a since with another wall time is
	// the same.
	for range 1000 {
		gone := time.Duration(rng.Int64N(int64(3 * time.Hour)))
		step := time.Duration(rng.Int64N(int64(40*365*24*time.Hour))) - 20*365*24*time.Hour
		if rng.IntN(3) == 0 {
			step = time.Duration(rng.Int64N(int64(2*clockSlack))) - clockSlack // time servers do that
		}
		got := stepped(gone, step)
		if step > clockSlack || step < -clockSlack {
			require.Zero(t, got, "%v after %v", step, gone)
		} else {
			require.Equal(t, gone, got, "%v after %v", step, gone)
		}
	}
}
