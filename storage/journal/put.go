package journal

import (
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// Record is an event as Write stores it.
type Record struct {
	Event  vms.Event
	Report bool // put it into the outbox
	// Era is what the times are of, if they are not true: see Announce. 0 is none, and leaves
	// the note of an event that is put again.
	Era uint32
	// Last is when the event was last known to go on, if it does: see TouchAll. Zero is its start.
	Last time.Time
}

// Put stores ev, replacing the event of the same id. When it returns nil, ev is on the device. With
// report set, the same transaction puts it into the outbox: an event that already waits there keeps
// its place but gets a new revision, and one that was parked waits again, at the end. Without
// report, an entry that waits keeps waiting, and will be reported as the event is then.
//
// An event with an owner takes the place of no other owner's: that is vms.ErrOwned, and changes
// nothing. One without an owner takes any place, and one that is stored without an owner gives way
// to any.
//
// ev must have an id, a type, an actor id and a start; an end before the start is refused
// (ErrInvalid). Nothing of ev is kept. A full disk gives ErrFull and changes nothing.
func (j *Journal) Put(ev vms.Event, report bool) error {
	return j.Write(Record{Event: ev, Report: report})[0]
}

// Write is Put of several events, in their order, with an error for each. They share a transaction,
// as far as one takes them: a disk that takes seconds over each costs the last of them no more than
// the first.
func (j *Journal) Write(list ...Record) []error {
	errs := make([]error, len(list))
	var apply []func(*schema.Tx) error
	var of []int // the place in list of each of apply
	for i, r := range list {
		change, err := j.change(r)
		if err != nil {
			errs[i] = fmt.Errorf("put event %q: %w", r.Event.ID, err)
			continue
		}
		apply, of = append(apply, change), append(of, i)
	}
	for n, err := range j.file.DoAll(apply...) {
		if err != nil {
			errs[of[n]] = fmt.Errorf("put event %q: %w", list[of[n]].Event.ID, err)
			continue
		}
		j.metrics.puts.Inc()
	}
	return errs
}

// change is what stores a record.
func (j *Journal) change(r Record) (func(*schema.Tx) error, error) {
	ev, body, err := schema.SealChecked(r.Event)
	if err != nil {
		return nil, err
	}
	return func(t *schema.Tx) error {
		if r.Era == 0 {
			return j.putLast(t, ev, body, r)
		}
		// Transactions come one after the other: what is announced after this one's beginning,
		// Settle finds in the file.
		if shift, announced := j.shiftOf(r.Era); announced {
			ev, body, err := schema.SealChecked(ev.Retimed(func(at time.Time) time.Time { return at.Add(shift) }))
			if err != nil {
				return file.Refuse(err)
			}
			moved := r
			if !r.Last.IsZero() {
				moved.Last = r.Last.Add(shift)
			}
			return j.putLast(t, ev, body, moved)
		}
		if err := j.putLast(t, ev, body, r); err != nil {
			return err
		}
		return t.Bucket(schema.Meta).Put(schema.UntrueKey(ev.ID), schema.SealEra(r.Era))
	}, nil
}

// putLast is put, where that may be, and notes when the event was last known to go on.
func (j *Journal) putLast(t *schema.Tx, ev vms.Event, body []byte, r Record) error {
	if err := mayReplace(t, ev); err != nil {
		return err
	}
	if err := j.put(t, ev, body, r.Report); err != nil || !ev.Ongoing() || r.Last.IsZero() {
		return err
	}
	id, ongoing := []byte(ev.ID), t.Bucket(schema.Ongoing)
	if last := r.Last.UnixMilli(); last > schema.KeyMS(ongoing.Get(id)) {
		return ongoing.Put(id, schema.MSKey(last))
	}
	return nil
}

// mayReplace refuses an event whose place is another owner's. It is asked before anything is
// written.
func mayReplace(t *schema.Tx, ev vms.Event) error {
	if ev.Owner == "" {
		return nil
	}
	if owner := schema.OwnerOf(t.Bucket(schema.Events).Get([]byte(ev.ID))); owner != "" && owner != ev.Owner {
		return file.Refuse(vms.ErrOwned)
	}
	return nil
}

func (j *Journal) put(t *schema.Tx, ev vms.Event, body []byte, report bool) error {
	if err := j.settleFirst(t, ev); err != nil {
		return err
	}
	id := []byte(ev.ID)
	var sequence uint64
	waited := t.Bucket(schema.OutboxID).Get(id) != nil
	old := t.Bucket(schema.Events).Get(id)
	if waited {
		t.Bytes -= int64(len(old))
	}
	if waited || report {
		t.Bytes += int64(len(body))
	}
	if old != nil {
		// A damaged old value leaves its index entries behind; lists skip them, and Check names
		// them.
		if h, err := schema.ReadHead(old); err == nil {
			sequence = h.Sequence
			if err := t.DropStale(ev.ID, h, schema.HeadOf(ev)); err != nil {
				return err
			}
		}
	}
	if report {
		seq, err := t.Enqueue(ev, j.opts.Now())
		if err != nil {
			return err
		}
		sequence = seq
	}
	if err := t.Record(ev, j.opts.Now()); err != nil {
		return err
	}
	return t.Store(ev, schema.WithSequence(body, sequence))
}

// Get is the event of that id, or ErrNotFound.
func (j *Journal) Get(id string) (ev vms.Event, err error) {
	if id == "" {
		return vms.Event{}, ErrNotFound
	}
	err = j.file.View(func(tx *bolt.Tx) error {
		b := guard.Bucket(tx, schema.Events).Get([]byte(id))
		if b == nil {
			return ErrNotFound
		}
		var err error
		ev, _, err = schema.ReadEvent([]byte(id), b)
		return err
	})
	if err != nil {
		return vms.Event{}, fmt.Errorf("get event %q: %w", id, err)
	}
	return ev, nil
}
