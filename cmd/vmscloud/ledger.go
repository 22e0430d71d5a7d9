package main

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"vmsbridge/cmd/vmscloud/presence"
	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// ledger is the journal as the service keeps it: an event makes its actor the account's, a status
// event tells the registry, and each event that is accepted may be announced on a stream for people
// to watch.
type ledger struct {
	Journal
	registry *registry.Registry
	log      *slog.Logger
	announce *announcer      // nil: nothing is announced
	feed     *feed.Feed      // nil: nobody subscribes
	followed bool            // the feed is told by followed changes, not at once
	presence *presence.Watch // nil: nobody looks which bridges are there
	usage    usage           // what accounts' events take
	turns    server.Turns    // of events, and of those who have status events
}

// Put stores an event, which is checked already. report is ignored: there is nobody to report to.
func (l *ledger) Put(ev vms.Event, _ bool) error { return l.PutAll([]vms.Event{ev}, false) }

// PutAll stores events in their order; all are stored, or none is. One without an owner is the
// service's own. The report of a beginning that comes late, as when it was held up on its way while
// its bridge sent it again with the end, does not open an event again that has ended: what is
// stored stays.
func (l *ledger) PutAll(events []vms.Event, _ bool) error {
	came := time.Now()
	if err := l.roomFor(events); err != nil {
		return err
	}
	for i, ev := range events {
		if ev.Owner == "" {
			events[i].Owner = vms.OwnerSelf
		}
		bridge := ""
		if id, ok := strings.CutPrefix(ev.Owner, "bridge:"); ok {
			bridge = id
		}
		mine, err := l.registry.Claim(ev.AccountID, vms.Actor{Type: ev.ActorType, ID: ev.ActorID}, bridge)
		if err != nil {
			return err
		}
		if !mine {
			return vms.NotFound(ev.ActorType+"s", "", ev.ActorID)
		}
	}
	own, shared := turnsOf(events)
	defer l.turns.Take(own, shared)()
	changes, undo := l.news(events)
	if err := l.store(changes); err != nil {
		for _, f := range slices.Backward(undo) {
			f()
		}
		return err
	}
	for _, c := range changes { // of a bridge whose clock is behind, the service's own say it in time
		ev, status := c.event, newStatus(c.event)
		if status == "" || presence.Ours(ev) && !ev.Ongoing() {
			continue
		}
		if err := l.registry.SetStatus(ev.AccountID, ev.ActorID, status, ev.StartTimestamp.Time); err != nil {
			l.log.Warn("the status of a camera could not be kept", "camera", ev.ActorID, "error", err)
		}
	}
	for _, ev := range events {
		l.heard(ev, came)
	}
	return nil
}

// change is an event that is stored, and what was there under its id, nil for nothing or where
// nobody asks.
type change struct {
	event  vms.Event
	before *vms.Event
}

// store stores changes and tells of them. It is the caller's turn.
func (l *ledger) store(changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	events, had := make([]vms.Event, len(changes)), make([]int, len(changes))
	for i, c := range changes {
		events[i] = keyed(c.event)
		had[i] = l.size(events[i].ID) // it is about right only
	}
	if err := l.Journal.PutAll(events, false); err != nil {
		return err
	}
	for i, c := range changes {
		l.usage.add(c.event.AccountID, l.size(events[i].ID)-had[i])
		if l.feed != nil && !l.followed {
			l.feed.Publish(c.event)
		}
		if l.announce != nil {
			l.announce.event(c.event, c.before)
		}
	}
	return nil
}

// size is how many bytes an event takes, 0 where no account has a limit.
func (l *ledger) size(id string) int {
	f := l.file()
	if f == nil {
		return 0
	}
	n, _ := f.Size(id) // it counts for nothing then
	return n
}

// news are those changes that the events make; undo takes back what was noted of them. It looks at
// what is stored only where that matters: for beginnings, status events, and if somebody is told of
// events.
func (l *ledger) news(events []vms.Event) (news []change, undo []func()) {
	for _, ev := range events {
		var was *vms.Event
		if l.announce != nil || ev.Ongoing() || ev.Type == vms.TypeDeviceStatus {
			old, err := l.Get(ev.ActorAccountID, ev.ID)
			if err == nil {
				was = &old
			} else if !errors.Is(err, journal.ErrNotFound) {
				l.log.Warn("the former state of an event could not be read", "id", ev.ID, "error", err)
			}
		}
		if was != nil && ev.Ongoing() && !was.Ongoing() && !presence.IsCut(*was) {
			continue
		}
		if l.presence == nil {
			news = append(news, change{ev, was})
			continue
		}
		store, back := l.presence.Admit(ev, was)
		undo = append(undo, back)
		for _, next := range store {
			before := was
			if next.ID != ev.ID {
				before = nil
				if old, err := l.Get(next.ActorAccountID, next.ID); err == nil {
					before = &old
				}
			}
			news = append(news, change{next, before})
		}
	}
	return news, undo
}

// newStatus is the status that an event by the system's health tells, "" for other events: anyone
// may report a status of another creator, and that is what that one thinks.
func newStatus(ev vms.Event) string {
	if ev.Type != vms.TypeDeviceStatus || ev.CreatorID != vms.CreatorHealth {
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
