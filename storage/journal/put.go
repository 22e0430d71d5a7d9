package journal

import (
	"fmt"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/table"
	"vmsbridge/storage/journal/vault"
	"vmsbridge/uplink/vms"
)

// Put stores ev, replacing the event of the same id. When it returns nil, ev is on the device. With report set, the same
// transaction puts it into the outbox: an event that already waits there keeps its place but gets a new revision, and one
// that was parked waits again, at the end. Without report, an entry that waits keeps waiting, and will be reported as
// the event is then.
//
// An event with an owner takes the place of no other owner's: that is vms.ErrOwned, and changes nothing. One without an owner takes
// any place, and one that is stored without an owner gives way to any.
//
// ev must have an id, a type, an actor id and a start; an end before the start is refused (ErrInvalid). Nothing of ev is
// kept. A full disk gives ErrFull and changes nothing.
func (j *Journal) Put(ev vms.Event, report bool) error {
	ev, body, err := form.SealChecked(ev)
	if err != nil {
		return fmt.Errorf("put event %q: %w", ev.ID, err)
	}
	if err := j.file.Do(func(t *table.Tx) error {
		if err := mayReplace(t, ev); err != nil {
			return err
		}
		return j.put(t, ev, body, report)
	}); err != nil {
		return fmt.Errorf("put event %q: %w", ev.ID, err)
	}
	j.metrics.puts.Inc()
	return nil
}

// mayReplace refuses an event whose place is another owner's. It is asked before anything is written.
func mayReplace(t *table.Tx, ev vms.Event) error {
	if ev.Owner == "" {
		return nil
	}
	if owner := form.OwnerOf(t.Bucket(form.Events).Get([]byte(ev.ID))); owner != "" && owner != ev.Owner {
		return vault.Refuse(vms.ErrOwned)
	}
	return nil
}

func (j *Journal) put(t *table.Tx, ev vms.Event, body []byte, report bool) error {
	if err := j.settleFirst(t, ev); err != nil {
		return err
	}
	id := []byte(ev.ID)
	var sequence uint64
	waited := t.Bucket(form.OutboxID).Get(id) != nil
	old := t.Bucket(form.Events).Get(id)
	if waited {
		t.Bytes -= int64(len(old))
	}
	if waited || report {
		t.Bytes += int64(len(body))
	}
	if old != nil {
		// A damaged old value leaves its index entries behind; lists skip them, and Check names them.
		if h, err := form.ReadHead(old); err == nil {
			sequence = h.Sequence
			if err := t.DropStale(ev.ID, h, form.HeadOf(ev)); err != nil {
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
	return t.Store(ev, form.WithSequence(body, sequence))
}

// Get is the event of that id, or ErrNotFound.
func (j *Journal) Get(id string) (ev vms.Event, err error) {
	if id == "" {
		return vms.Event{}, ErrNotFound
	}
	err = j.file.View(func(tx *bolt.Tx) error {
		b := guard.Bucket(tx, form.Events).Get([]byte(id))
		if b == nil {
			return ErrNotFound
		}
		var err error
		ev, _, err = form.ReadEvent([]byte(id), b)
		return err
	})
	if err != nil {
		return vms.Event{}, fmt.Errorf("get event %q: %w", id, err)
	}
	return ev, nil
}
