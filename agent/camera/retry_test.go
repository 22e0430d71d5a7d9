package camera

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRetryWaits(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	lost := &Failure{State: Disconnected}
	var r retry
	var waits []time.Duration
	for range 40 {
		d := r.next(lost, 0, now)
		require.GreaterOrEqual(t, d, time.Second)
		require.LessOrEqual(t, d, 30*time.Second)
		if now.Sub(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) < time.Minute {
			require.LessOrEqual(t, d, 5*time.Second, "in the first minute a camera that returns is seen soon")
		}
		waits = append(waits, d)
		now = now.Add(d)
	}
	require.Less(t, waits[0], 1200*time.Millisecond)
	require.Greater(t, waits[39], 22*time.Second)
	distinct := map[time.Duration]bool{}
	for _, w := range waits[20:] {
		distinct[w] = true
	}
	require.Greater(t, len(distinct), 10, "jittered")

	require.Less(t, r.next(lost, time.Minute, now), 1200*time.Millisecond, "a good session starts anew")
	r.next(lost, 0, now)
	r.next(lost, 0, now)
	r.returned()
	require.Less(t, r.next(lost, 0, now), 1200*time.Millisecond, "the port answers again")

	again := &Failure{State: Stale, immediate: true}
	require.Less(t, r.next(again, time.Minute, now), 300*time.Millisecond)
	require.GreaterOrEqual(t, r.next(again, 0, now), time.Second, "not twice in a row")
}

// Three wrong attempts within minutes lock many an account.
func TestRetryAfterWrongCredentials(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	wrong := &Failure{State: InvalidCredentials}
	var r retry
	r.next(&Failure{State: Unreachable}, 0, now)
	r.next(&Failure{State: Unreachable}, 0, now)
	for i, want := range []time.Duration{30 * time.Second, 2 * time.Minute, 5 * time.Minute, 5 * time.Minute} {
		d := r.next(wrong, 0, now)
		require.GreaterOrEqual(t, d, want, "attempt %d", i)
		require.LessOrEqual(t, d, want*12/10, "attempt %d", i)
		now = now.Add(d)
	}
	require.Less(t, r.next(&Failure{State: Unreachable}, 0, now), 1200*time.Millisecond,
		"another trouble has its own series")
}
