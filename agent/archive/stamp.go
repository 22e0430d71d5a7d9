package archive

import (
	"time"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// span is what is kept of an ongoing event, so that its id is known under whichever time it is stored.
type span struct {
	actor, kind string
	start       time.Time
	last        time.Time // when it was last known to go on
}

func spanOf(ev vms.Event, last time.Time) span {
	return span{ev.ActorID, ev.Type, ev.StartTimestamp.Time, last}
}

// write puts events into the journal under their true times. They are those of the moment of writing: what waited here while the
// clock became true is right as well, and so is what the journal gets before it is, and stores after.
func (o *EventWriter) write(batch []vms.Event, stored []bool, last []time.Time) []error {
	var at func(time.Time) time.Time
	var era uint32
	if o.clock != nil {
		at, era = o.clock.Stamp()
	}
	list := make([]journal.Record, len(batch))
	for i, ev := range batch {
		list[i] = journal.Record{Event: ev, Report: o.report && (o.ongoing.Load() || !ev.Ongoing())}
		if ev.Ongoing() {
			list[i].Last = last[i]
		}
		if at != nil && !stored[i] {
			list[i].Event, list[i].Era = timed(ev, at), era
			if !last[i].IsZero() {
				list[i].Last = at(last[i])
			}
		}
	}
	return o.to.Write(list...)
}

// timed is an event with its true times. A step back in its midst does not make it end before it begins, nor anything in it come
// before it: what would is as long after the start as it was.
func timed(ev vms.Event, at func(time.Time) time.Time) vms.Event {
	began := ev.StartTimestamp.Time
	start := at(began)
	return ev.Retimed(func(t time.Time) time.Time {
		if true := at(t); t.Before(began) || !true.Before(start) {
			return true
		}
		return start.Add(t.Sub(began))
	})
}

// stamped is the last activities under the events' stored ids, at their true times.
func (o *EventWriter) stamped(touched map[string]time.Time, spans map[string]span) map[string]time.Time {
	if o.clock == nil {
		return touched
	}
	at, _ := o.clock.Stamp()
	out := map[string]time.Time{}
	for id, last := range touched {
		s := spans[id]
		if s.start.IsZero() {
			out[id] = last
			continue
		}
		ev := timed(vms.Event{ID: id, ActorID: s.actor, Type: s.kind, StartTimestamp: vms.At(s.start), EndTimestamp: vms.Ptr(last)}, at)
		out[ev.ID] = ev.EndTimestamp.Time
	}
	return out
}
