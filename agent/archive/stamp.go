package archive

import (
	"time"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// span keeps an ongoing event's data, so that its id is known under whichever time it is
// stored.
type span struct {
	actor, kind string
	start       time.Time
	last        time.Time // when it was last known to go on
}

func spanOf(ev vms.Event, last time.Time) span {
	return span{ev.ActorID, ev.Type, ev.StartTimestamp.Time, last}
}

// stamp turns the pipelines' times into true ones, and says of which era they are.
type stamp struct {
	at  func(time.Time) time.Time
	era uint32
}

// records are events as the journal takes them, at the times of the stamp. Those that were stored
// before have theirs.
func (s stamp) records(batch []vms.Event, stored []bool, last []time.Time) []journal.Record {
	list := make([]journal.Record, len(batch))
	for i, ev := range batch {
		list[i].Event = ev
		if ev.Ongoing() {
			list[i].Last = last[i]
		}
		if s.at != nil && !stored[i] {
			list[i].Event, list[i].Era = timed(ev, s.at), s.era
			if !last[i].IsZero() {
				list[i].Last = s.at(last[i])
			}
		}
	}
	return list
}

// leastStep is by how much more the true time must have passed within an event than time itself, to
// be a step.
const leastStep = time.Second

// timed is an event with its true times. A step in its midst does not make it end before it begins,
// nor anything in it come before it, nor does a motion of seconds last for hours: what comes after
// the step is as long after the start as it was. A device's status follows a step forward, so that
// the next one begins where it ends.
func timed(ev vms.Event, at func(time.Time) time.Time) vms.Event {
	began, follows := ev.StartTimestamp.Time, ev.Type == vms.TypeDeviceStatus
	start := at(began)
	return ev.Retimed(func(t time.Time) time.Time {
		moved, gone := at(t), t.Sub(began)
		if gone >= 0 && (moved.Before(start) || !follows && moved.Sub(start) > gone+leastStep) {
			return start.Add(gone)
		}
		return moved
	})
}

// touched is the last activities under the events' stored ids, at their true times.
func (s stamp) touched(touched map[string]time.Time, spans map[string]span) map[string]time.Time {
	if s.at == nil {
		return touched
	}
	out := map[string]time.Time{}
	for id, last := range touched {
		known := spans[id]
		if known.start.IsZero() {
			out[id] = last
			continue
		}
		ev := timed(vms.Event{ID: id, ActorID: known.actor, Type: known.kind, StartTimestamp: vms.At(known.start),
			EndTimestamp: vms.Ptr(last)}, s.at)
		out[ev.ID] = ev.EndTimestamp.Time
	}
	return out
}
