package main

import (
	"errors"
	"log/slog"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// ledger is the journal as the service keeps it: an event makes its actor the account's, a status event tells the
// registry, and each event that is accepted may be announced on a stream for people to watch.
type ledger struct {
	*journal.Journal
	registry *registry
	log      *slog.Logger
	announce *announcer // nil: nothing is announced
}

// Put stores an event, which is checked already. report is ignored: there is nobody to report to.
func (l *ledger) Put(ev vms.Event, _ bool) error {
	mine, err := l.registry.claim(ev.AccountID, vms.Actor{Type: ev.ActorType, ID: ev.ActorID})
	if err != nil {
		return err
	}
	if !mine {
		return vms.NotFound(ev.ActorType+"s", "", ev.ActorID)
	}
	var before *vms.Event
	if l.announce != nil {
		old, err := l.Get(ev.ID)
		if err == nil {
			before = &old
		} else if !errors.Is(err, journal.ErrNotFound) {
			l.log.Warn("the former state of an event could not be read", "id", ev.ID, "error", err)
		}
	}
	if err := l.Journal.Put(ev, false); err != nil {
		return err
	}
	if status := newStatus(ev); status != "" {
		if err := l.registry.setStatus(ev.ActorID, status, ev.StartTimestamp.Time); err != nil {
			l.log.Warn("the status of a camera could not be kept", "camera", ev.ActorID, "error", err)
		}
	}
	if l.announce != nil {
		l.announce.event(ev, before)
	}
	return nil
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
