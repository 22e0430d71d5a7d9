package outlet

import (
	"time"

	"vmsbridge/uplink/vms"
)

// span is what is kept of an ongoing event, so that its id is known under whichever time it is stored.
type span struct {
	actor, kind string
	start       time.Time
}

func spanOf(ev vms.Event) span { return span{ev.ActorID, ev.Type, ev.StartTimestamp.Time} }

// write puts an event into the journal under its true times. They are those of the moment of writing: what waited here while the
// clock became true is right as well.
func (o *Outlet) write(ev vms.Event, report, stored bool) error {
	if o.clock == nil || stored {
		return o.to.Put(ev, report)
	}
	return o.clock.Stamp(func(at func(time.Time) time.Time, era uint32) error {
		ev := timed(ev, at)
		if era == 0 {
			return o.to.Put(ev, report)
		}
		return o.to.PutProvisional(ev, report, era)
	})
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

// touch notes the last activity of an event.
func (o *Outlet) touch(id string, s span, last time.Time) error {
	if o.clock == nil || s.start.IsZero() {
		return o.to.Touch(id, last)
	}
	return o.clock.Stamp(func(at func(time.Time) time.Time, _ uint32) error {
		ev := timed(vms.Event{ID: id, ActorID: s.actor, Type: s.kind, StartTimestamp: vms.At(s.start), EndTimestamp: vms.Ptr(last)}, at)
		return o.to.Touch(ev.ID, ev.EndTimestamp.Time)
	})
}
