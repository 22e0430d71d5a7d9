package journal

import (
	"fmt"
	"slices"
	"time"

	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// settlePiece is how many events one call of Settle puts right: a transaction that others wait for
// no longer than for a slow disk.
const settlePiece = 100

// settlement is what Settle has begun and not ended.
type settlement struct {
	era    uint32
	shift  time.Duration
	change func(vms.Event) vms.Event
}

// Settle moves all times of some of an era's events by shift, and their ids with them, in one
// transaction: where they wait to be reported, are parked or go on they do so under the new id, in
// the same place. change, if it is not nil, may change each further, but not its id, type, actor
// and times. It says how many events there were, and whether there are more: then it is to be
// called again, with the same, until there are none. In between others may write, and an event that
// is put under the id that one of the rest will get is that event, as if all had been moved at
// once. So that this holds after a crash too, call it before anything is put. An era without events
// is no error.
func (j *Journal) Settle(era uint32, shift time.Duration, change func(vms.Event) vms.Event) (n int, more bool,
	err error) {
	s := &settlement{era, shift, change}
	before := j.settling.Swap(s)
	err = j.file.Do(func(t *schema.Tx) error {
		n = 0
		ids := schema.Untrue(t.Tx, era, settlePiece+1)
		more = len(ids) > settlePiece
		for _, id := range ids[:min(len(ids), settlePiece)] {
			moved, err := j.settle(t, id, s)
			if err != nil {
				return err
			}
			if moved {
				n++
			}
		}
		return nil
	})
	if err != nil {
		j.settling.Store(before)
		return 0, true, fmt.Errorf("settle the events of era %d: %w", era, err)
	}
	if !more {
		j.settling.Store(nil)
	}
	return n, more, nil
}

// settle puts one event right, and strikes out its note. It says whether the event was still there.
func (j *Journal) settle(t *schema.Tx, id string, s *settlement) (bool, error) {
	if err := t.Bucket(schema.Meta).Delete(schema.UntrueKey(id)); err != nil {
		return false, err
	}
	ev, h, err := schema.ReadEvent([]byte(id), t.Bucket(schema.Events).Get([]byte(id)))
	if err != nil {
		j.metrics.damaged.Inc() // it is gone, or damaged, which is told elsewhere
		return false, nil
	}
	return true, j.retime(t, ev, h, s.shift, s.change)
}

// settleFirst puts that event right of which ev, about to be put, is a newer version: an event has
// one id.
func (j *Journal) settleFirst(t *schema.Tx, ev vms.Event) error {
	s := j.settling.Load()
	if s == nil {
		return nil
	}
	was := ev.Retimed(func(at time.Time) time.Time { return at.Add(-s.shift) }).ID
	if !schema.IsOfEra(t.Bucket(schema.Meta).Get(schema.UntrueKey(was)), s.era) {
		return nil
	}
	_, err := j.settle(t, was, s)
	return err
}

// retime moves one event.
func (j *Journal) retime(t *schema.Tx, old vms.Event, h schema.Head, shift time.Duration,
	change func(vms.Event) vms.Event) error {
	ev := old.Retimed(func(at time.Time) time.Time { return at.Add(shift) })
	if change != nil {
		ev = change(ev)
	}
	// Two events of one actor and type cannot have begun in the same millisecond; one of another
	// clock may seem to.
	for ev.ID != old.ID && t.Bucket(schema.Events).Get([]byte(ev.ID)) != nil {
		ev = ev.Retimed(func(at time.Time) time.Time { return at.Add(time.Millisecond) })
	}
	body, err := schema.SealEvent(ev, h.Sequence)
	if err != nil {
		return err
	}
	last := slices.Clone(t.Bucket(schema.Ongoing).Get([]byte(old.ID)))
	waits, err := t.Rename(old.ID, ev.ID, shift)
	if err != nil {
		return err
	}
	if waits {
		t.Bytes += int64(len(body)) - int64(len(t.Bucket(schema.Events).Get([]byte(old.ID))))
	}
	if err := t.ForgetChanges([]byte(old.ID)); err != nil {
		return err
	}
	if err := t.Erase(old.ID, h); err != nil {
		return err
	}
	if err := t.Record(ev, j.opts.Now()); err != nil {
		return err
	}
	if err := t.Store(ev, body); err != nil {
		return err
	}
	if len(last) == 8 && ev.Ongoing() {
		return t.Bucket(schema.Ongoing).Put([]byte(ev.ID), schema.MSKey(j.lastOf(old.ID, last)+shift.Milliseconds()))
	}
	return nil
}
