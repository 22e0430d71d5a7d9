package journal

import (
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// committed brings what is derived from the database up to date and tells those who listen.
func (j *Journal) committed(t *schema.Tx) {
	j.stateMu.Lock()
	if n := j.outboxBytes.Load(); n >= 0 {
		j.outboxBytes.CompareAndSwap(n, max(0, n+t.Bytes)) // a count under way knows better
	}
	subs := make([]func(vms.Event), 0, len(j.subscribers))
	for i := range j.nextSub {
		if f := j.subscribers[i]; f != nil {
			subs = append(subs, f)
		}
	}
	cursors := j.cursors
	j.stateMu.Unlock()
	if t.Queued {
		j.signal()
	}
	if t.Changed {
		for _, c := range cursors {
			c.signal()
		}
	}
	for _, ev := range t.Events {
		if !ev.Ongoing() {
			j.activity.forget(ev.ID)
		}
		for _, f := range subs {
			f(ev)
		}
	}
}

func (j *Journal) signal() {
	select {
	case j.changed <- struct{}{}:
	default:
	}
}

// Changed has a value after something entered the outbox, and at Open if something waits there. One
// value may stand for many entries.
func (j *Journal) Changed() <-chan struct{} { return j.changed }

// Subscribe calls f with every event that is put from now on, once it is durable and before its Put
// returns, in the order of the commits. f must not block and must not call a method that changes
// the journal; the event's slices are shared and must not be changed. After cancel returns, no new
// call begins.
func (j *Journal) Subscribe(f func(vms.Event)) (cancel func()) {
	j.stateMu.Lock()
	defer j.stateMu.Unlock()
	n := j.nextSub
	j.nextSub++
	j.subscribers[n] = f
	return func() {
		j.stateMu.Lock()
		defer j.stateMu.Unlock()
		delete(j.subscribers, n)
	}
}
