package main

import (
	"errors"
	"log/slog"

	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// ledger is the journal as the service keeps it: an event makes its actor the account's, a status event tells the
// registry, and each event that is accepted may be announced on a stream for people to watch.
type ledger struct {
	*journal.Journal
	registry *registry.Registry
	log      *slog.Logger
	announce *announcer // nil: nothing is announced
	feed     *feed.Feed // nil: nobody subscribes
	turns    turns      // of events
}

// Put stores an event, which is checked already. report is ignored: there is nobody to report to.
func (l *ledger) Put(ev vms.Event, _ bool) error { return l.PutAll([]vms.Event{ev}, false) }

// PutAll stores events in their order; all are stored, or none is. The report of a beginning that comes late, as when it was held up on
// its way while its bridge sent it again with the end, does not open an event again that has ended: what is stored stays.
func (l *ledger) PutAll(events []vms.Event, _ bool) error {
	for _, ev := range events {
		mine, err := l.registry.Claim(ev.AccountID, vms.Actor{Type: ev.ActorType, ID: ev.ActorID})
		if err != nil {
			return err
		}
		if !mine {
			return vms.NotFound(ev.ActorType+"s", "", ev.ActorID)
		}
	}
	ids := make([]string, len(events))
	for i, ev := range events {
		ids[i] = ev.ID
	}
	defer l.turns.take(ids)()
	events, before := l.news(events)
	if err := l.Journal.PutAll(events, false); err != nil {
		return err
	}
	for i, ev := range events {
		if status := newStatus(ev); status != "" {
			if err := l.registry.SetStatus(ev.ActorID, status, ev.StartTimestamp.Time); err != nil {
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

// news are those of the events that tell something new, and what is stored under their ids, nil for those unknown. It looks only
// where that matters: for beginnings, and if somebody is told of events.
func (l *ledger) news(events []vms.Event) (news []vms.Event, before []*vms.Event) {
	for _, ev := range events {
		var was *vms.Event
		if l.announce != nil || ev.Ongoing() {
			old, err := l.Get(ev.ID)
			if err == nil {
				was = &old
			} else if !errors.Is(err, journal.ErrNotFound) {
				l.log.Warn("the former state of an event could not be read", "id", ev.ID, "error", err)
			}
		}
		if was != nil && ev.Ongoing() && !was.Ongoing() {
			continue
		}
		news, before = append(news, ev), append(before, was)
	}
	return news, before
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
