package supervisor

import (
	"context"
	"time"
)

// Backoff is the pause before something that failed starts again: none for the first Free failures,
// then Min, doubled each time up to Max. It is for one goroutine.
type Backoff struct {
	Free     int
	Min, Max time.Duration
	Calm     time.Duration // what lived for so long begins a new series
	Failures int           // of the series so far
}

// Failed counts a failure of what lived for so long and returns the pause.
func (b *Backoff) Failed(lived time.Duration) time.Duration {
	if lived >= b.Calm {
		b.Failures = 0
	}
	b.Failures++
	return b.Pause()
}

// Pause is the one after the failures so far.
func (b *Backoff) Pause() time.Duration {
	n := b.Failures - b.Free - 1
	if n < 0 {
		return 0
	}
	return min(b.Max, b.Min<<min(n, 20))
}

// Sleep waits for d or until ctx is done, and returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
	return ctx.Err()
}
