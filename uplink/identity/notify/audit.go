package notify

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

// EventStore keeps events. An error that is a *vms.Error of the 4xx codes is final, others may
// pass.
type EventStore interface {
	// PutAll keeps all events, or none.
	PutAll(events []vms.Event, report bool) error
}

// AuditOptions of New. Store and Events are needed.
type AuditOptions struct {
	Store  *store.Store
	Events EventStore
	// Forget removes what is kept elsewhere of an account that was deleted: devices and events. It
	// may be called again for one that it was called for; after an error it is. nil: nothing is
	// kept elsewhere.
	Forget func(account string) error
	Keep   time.Duration // entries older than this are removed; 0 keeps all
	Every  time.Duration // between looks at the trail; 1 s if 0
	Log    *slog.Logger
}

// AuditExporter makes events of the audit trail: the catalogue's events of accounts and users that
// were made, changed or deleted. It removes entries that are old enough. How far it has come stands
// in the store, and is written after the events are kept: after a crash the last ones are made
// again, with the same ids, and so take the place of what is there. No change goes without its
// event.
//
// Step and Prune must not run beside themselves.
type AuditExporter struct{ o AuditOptions }

// NewAuditExporter makes an exporter; nothing happens until Run.
func NewAuditExporter(o AuditOptions) *AuditExporter {
	if o.Every == 0 {
		o.Every = time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &AuditExporter{o}
}

const (
	// auditBatch is how many entries are read at once.
	auditBatch = 200
	// pruneEvery is the time between removals of old entries.
	pruneEvery = time.Hour
)

// Run carries entries until ctx is done.
func (p *AuditExporter) Run(ctx context.Context) error {
	tick := time.NewTicker(p.o.Every)
	defer tick.Stop()
	var pruned time.Time
	failing := false
	for {
		err := p.Step(ctx)
		if err != nil && !failing {
			p.o.Log.Error("events of accounts and users wait", "error", err)
		}
		failing = err != nil
		if now := time.Now(); now.Sub(pruned) >= pruneEvery {
			pruned = now
			if err := p.Prune(); err != nil {
				p.o.Log.Error("old entries of the trail could not be removed", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// The bucket and key of the cursor: the sequence number of the last entry that was carried.
const auditBucket = "audit-pump"

var keyCursor = []byte("cursor")

// Step carries all entries that wait.
func (p *AuditExporter) Step(ctx context.Context) error {
	for ctx.Err() == nil {
		var list []model.AuditEntry
		var at uint64
		err := p.o.Store.View(func(tx *store.Tx) (err error) {
			at = cursor(tx)
			list, err = tx.AuditTrailAfter(at, auditBatch)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		stuck := p.export(list, &at)
		err = p.o.Store.Update(func(tx *store.Tx) error {
			return tx.Bucket(auditBucket).Put(keyCursor, binary.BigEndian.AppendUint64(nil, at))
		})
		if err := errors.Join(stuck, err); err != nil {
			return err
		}
	}
	return nil
}

// export makes events of entries in their order and moves at past those that are done. They are
// kept together: a fleet that comes for the first time makes tens of thousands.
func (p *AuditExporter) export(list []model.AuditEntry, at *uint64) error {
	last := map[string]vms.Time{} // by type and actor
	var events []vms.Event
	for i, e := range list {
		ev, ok, err := auditEvent(e)
		if err != nil {
			return err
		}
		if ok {
			what := ev.Type + " " + ev.ActorID
			if before, ok := last[what]; ok && !ev.StartTimestamp.After(before.Time) {
				// Two changes within a millisecond would be one event by their ids.
				end := vms.At(before.Add(time.Millisecond))
				ev.StartTimestamp, ev.EndTimestamp = end, &end
			}
			last[what] = ev.StartTimestamp
			ev.ID = ev.NaturalID()
			events = append(events, ev)
		}
		gone := e.Kind == model.KindAccount && e.Action == model.AuditDelete && p.o.Forget != nil
		if !gone && i < len(list)-1 {
			continue
		}
		if err := p.keep(events); err != nil {
			return fmt.Errorf("keep events of changes: %w", err)
		}
		events = nil
		if gone {
			if err := p.o.Forget(e.Target); err != nil {
				return fmt.Errorf("forget deleted account: %w", err)
			}
		}
		*at = e.Seq
	}
	return nil
}

// keep keeps events, and leaves out those that never can be.
func (p *AuditExporter) keep(events []vms.Event) error {
	if len(events) == 0 {
		return nil
	}
	err := p.o.Events.PutAll(events, false)
	var final *vms.Error
	if !errors.As(err, &final) || final.Code < http.StatusBadRequest || final.Code >= http.StatusInternalServerError {
		return err
	}
	if len(events) == 1 {
		p.o.Log.Warn("a change of an account or user makes no event", "type", events[0].Type, "id", events[0].ID,
			"error", err)
		return nil
	}
	for i := range events {
		if err := p.keep(events[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

func cursor(tx *store.Tx) uint64 {
	if raw := tx.Bucket(auditBucket).Get(keyCursor); len(raw) == 8 {
		return binary.BigEndian.Uint64(raw)
	}
	return 0
}

// Prune removes entries that are older than they are kept, but none that was not carried yet.
func (p *AuditExporter) Prune() error {
	if p.o.Keep <= 0 {
		return nil
	}
	before := p.o.Store.Now().Add(-p.o.Keep)
	for more := true; more; {
		err := p.o.Store.Update(func(tx *store.Tx) error {
			at := cursor(tx)
			list, err := tx.AuditTrailAfter(0, auditBatch)
			if err != nil {
				return err
			}
			upTo := uint64(0)
			for _, e := range list {
				if e.Seq > at || !e.Time.Before(before) {
					break
				}
				upTo = e.Seq
			}
			more = len(list) == auditBatch && upTo == list[len(list)-1].Seq
			if upTo == 0 {
				return nil
			}
			return tx.PruneAuditTrail(upTo)
		})
		if err != nil {
			return fmt.Errorf("prune trail: %w", err)
		}
	}
	return nil
}
