package archive

import (
	"context"
	"time"

	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// housekeepEvery is how often events that have outlived journal.max_age or journal.max_events are
// removed.
const housekeepEvery = time.Hour

// trimEvery is how often the outbox is held against its caps. What comes in meanwhile is far less
// than its reserve.
const trimEvery = time.Minute

// Housekeep removes what is too old or too much, until ctx is done: events from the journal every
// hour, and, each minute, what waits for a service that has been away for too long.
func (s *Archive) Housekeep(ctx context.Context) error {
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	for n := 0; ; n++ {
		cfg := s.opts.Config()
		if cfg.Service.URL != "" {
			s.trimOutbox(cfg, s.aged(cfg.Journal.OutboxMaxAge))
		}
		if n%int(housekeepEvery/trimEvery) == 0 {
			s.prune(ctx, journal.Retention{Keep: cfg.Journal.MaxEvents, Before: s.aged(cfg.Journal.MaxAge),
				Stop: ctx.Err})
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
	if n, err := s.Journal.Prune(r); err != nil && ctx.Err() == nil {
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
