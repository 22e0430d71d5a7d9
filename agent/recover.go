package agent

import (
	"context"
	"fmt"
	"time"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

const (
	// pruneEvery is how often events that have outlived journal.max_age are removed.
	pruneEvery = time.Hour
)

// closeUnfinished ends the spans that a crash or a power cut left ongoing, at their last known activity, so that the
// service does not show a motion that lasts for ever. The outlet writes them: a disk that is full now must not keep the
// bridge from starting.
func (a *Agent) closeUnfinished() error {
	open, err := a.journal.Unfinished()
	if err != nil {
		return fmt.Errorf("read the spans of the last run: %w", err)
	}
	for _, o := range open {
		if !ours(o.Event) {
			continue
		}
		ev, end := o.Event, o.Last
		if end.Before(ev.StartTimestamp.Time) {
			end = ev.StartTimestamp.Time
		}
		ev.EndTimestamp = vms.Ptr(end)
		a.out.Put(ev)
		a.log.Info("ended a span that the last run left open", "id", ev.ID, "end", ev.EndTimestamp.String())
	}
	return nil
}

// ours tells whether the bridge itself made the event; another program's ongoing event is that program's to end.
func ours(ev vms.Event) bool {
	return ev.CreatorID == vms.CreatorMotion || ev.CreatorID == vms.CreatorHealth
}

// housekeep prunes the journal now and then.
func (a *Agent) housekeep(ctx context.Context) error {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		if age := a.cfg.Journal.MaxAge; age > 0 {
			if n, err := a.journal.Prune(journal.Retention{Before: time.Now().Add(-age)}); err != nil {
				a.log.Warn("prune the journal", "error", err)
			} else if n > 0 {
				a.log.Info("pruned old events", "events", n)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
