package archive

import (
	"context"
	"time"

	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

const (
	// housekeepEvery is how often events that have outlived journal.max_age or journal.max_events
	// are removed, and how long the clock must have gone on without a step before an event's age
	// counts for anything.
	housekeepEvery = time.Hour
	// clockSlack is how far the clock may be corrected in that time.
	clockSlack = time.Minute
)

// trimEvery is how often the outbox is held against its caps. What comes in meanwhile is far less
// than its reserve.
const trimEvery = time.Minute

// Housekeep removes what is too old or too much, until ctx is done: events from the journal every
// hour, and, each minute, what waits for a service that has been away for too long.
func (s *Archive) Housekeep(ctx context.Context) error {
	steady := steady{since: time.Now()}
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	for n := 0; ; n++ {
		cfg := s.opts.Config()
		known := steady.lasts(time.Now()) >= housekeepEvery-clockSlack
		limit := func(age time.Duration) (before time.Time) {
			if age > 0 && known {
				before = s.aged(age)
			}
			return before
		}
		if cfg.Service.URL != "" {
			s.trimOutbox(cfg, limit(cfg.Journal.OutboxMaxAge))
		}
		if n%int(housekeepEvery/trimEvery) == 0 {
			s.prune(ctx, journal.Retention{Keep: cfg.Journal.MaxEvents, Before: limit(cfg.Journal.MaxAge)})
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// prune removes old events, and gives back the room when most of the journal's file is free.
func (s *Archive) prune(ctx context.Context, r journal.Retention) {
	if n, err := s.Journal.Prune(r); err != nil {
		s.log.Warn("prune the journal", "error", err)
	} else if n > 0 {
		s.log.Info("pruned old events", "events", n)
	}
	if _, err := s.Journal.Compact(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("the journal's file keeps its size", "error", err)
	}
}

// trimOutbox keeps what waits for the service within journal.outbox_max_size and outbox_max_age.
func (s *Archive) trimOutbox(cfg *configs.Config, before time.Time) {
	caps := journal.Caps{MaxBytes: int64(cfg.Journal.OutboxMaxSize), Before: before}
	gap := func(m journal.Missing) vms.Event { return gapEvent(cfg.Bridge, s.opts.Version, m) }
	if n, err := s.Journal.Trim(caps, gap); err != nil {
		s.log.Warn("keep the outbox within its caps", "error", err)
	} else if n > 0 {
		s.log.Warn("events will not be reported: the service was away for too long; they are in the bridge's own list",
			"events", n)
	}
}

// steady tells how long the clock has gone on without a step. A clock that jumped years ahead must
// not let the journal forget everything: it is wrong, and if it is not, an hour later is early
// enough.
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
