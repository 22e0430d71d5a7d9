package agent

import (
	"context"
	"time"

	"vmsbridge/storage/journal"
)

const (
	// housekeepEvery is how often events that have outlived journal.max_age or journal.max_events are removed, and how long
	// the clock must have gone on without a step before an event's age counts for anything.
	housekeepEvery = time.Hour
	// clockSlack is how far the clock may be corrected in that time.
	clockSlack = time.Minute
)

// housekeep prunes the journal now and then, and gives back the room when most of its file is free.
func (a *Agent) housekeep(ctx context.Context) error {
	clock := steady{since: time.Now()}
	tick := time.NewTicker(housekeepEvery)
	defer tick.Stop()
	for {
		r := journal.Retention{Keep: a.cfg().Journal.MaxEvents}
		if age := a.cfg().Journal.MaxAge; age > 0 && clock.lasts(time.Now()) >= housekeepEvery-clockSlack {
			r.Before = a.aged(age)
		}
		a.tidy(ctx, r)
		a.cert.renew(a.cfg(), a.log)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (a *Agent) tidy(ctx context.Context, r journal.Retention) {
	if n, err := a.journal.Prune(r); err != nil {
		a.log.Warn("prune the journal", "error", err)
	} else if n > 0 {
		a.log.Info("pruned old events", "events", n)
	}
	if _, err := a.journal.Compact(ctx); err != nil && ctx.Err() == nil {
		a.log.Warn("the journal's file keeps its size", "error", err)
	}
}

// steady tells how long the clock has gone on without a step. A clock that jumped years ahead must not let the journal
// forget everything: it is wrong, and if it is not, an hour later is early enough.
type steady struct{ since time.Time }

// lasts is that time at now, which carries the monotonic clock as time.Now gives it.
func (s *steady) lasts(now time.Time) time.Duration {
	gone := stepped(now.Sub(s.since), now.Round(0).Sub(s.since.Round(0))-now.Sub(s.since))
	if gone == 0 {
		s.since = now
	}
	return gone
}

// stepped is how much of the time gone counts if the clock was stepped meanwhile.
func stepped(gone, step time.Duration) time.Duration {
	if step > clockSlack || step < -clockSlack {
		return 0
	}
	return gone
}
