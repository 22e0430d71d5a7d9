package main

import (
	"errors"
	"log/slog"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// ledger is the journal as the service keeps it: an event makes its actor the account's, a status event tells the
// registry, and each event that is accepted may be announced on a stream for people to watch.
type ledger struct {
	*journal.Journal
	registry *registry
	log      *slog.Logger
	announce *announcer // nil: nothing is announced
	feed     *feed.Feed // nil: nobody subscribes
}

// Put stores an event, which is checked already. report is ignored: there is nobody to report to.
func (l *ledger) Put(ev vms.Event, _ bool) error { return l.PutAll([]vms.Event{ev}, false) }

// PutAll stores events in their order; all are stored, or none is.
func (l *ledger) PutAll(events []vms.Event, _ bool) error {
	for _, ev := range events {
		mine, err := l.registry.claim(ev.AccountID, vms.Actor{Type: ev.ActorType, ID: ev.ActorID})
		if err != nil {
			return err
		}
		if !mine {
			return vms.NotFound(ev.ActorType+"s", "", ev.ActorID)
		}
	}
	before := l.former(events)
	if err := l.Journal.PutAll(events, false); err != nil {
		return err
	}
	for i, ev := range events {
		if status := newStatus(ev); status != "" {
			if err := l.registry.setStatus(ev.ActorID, status, ev.StartTimestamp.Time); err != nil {
				l.log.Warn("the status of a camera could not be kept", "camera", ev.ActorID, "error", err)
			}
		}
		if l.feed != nil {
			l.feed.Publish(ev)
		}
		if l.announce != nil {
			l.announce.event(ev, before[i])
		}
	}
	return nil
}

// former is what is stored under the ids of events, nil for those unknown. It looks only if somebody will ask.
func (l *ledger) former(events []vms.Event) []*vms.Event {
	before := make([]*vms.Event, len(events))
	if l.announce == nil {
		return before
	}
	for i, ev := range events {
		old, err := l.Get(ev.ID)
		if err == nil {
			before[i] = &old
		} else if !errors.Is(err, journal.ErrNotFound) {
			l.log.Warn("the former state of an event could not be read", "id", ev.ID, "error", err)
		}
	}
	return before
}

// newStatus is the status that a device status event tells, "" for other events.
func newStatus(ev vms.Event) string {
	if ev.Type != vms.TypeDeviceStatus {
		return ""
	}
	for _, d := range ev.Data {
		var s struct {
			NewStatus vms.ConnectionStatus `json:"newStatus"`
		}
		if d.Type == vms.SchemaDeviceStatus && d.Into(&s) == nil && vms.ValidStatus(s.NewStatus.ConnectionStatus) {
			return s.NewStatus.ConnectionStatus
		}
	}
	return ""
}
