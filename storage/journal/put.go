package journal

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/uplink/vms"
)

// Limits of what Put accepts, in bytes.
const (
	maxIDBytes    = 4096
	maxNameBytes  = 1024 // type, actor type, actor id
	maxEventBytes = 1 << 20
)

// Put stores ev, replacing the event of the same id. When it returns nil, ev is on the device. With report set, the same
// transaction puts it into the outbox: an event that already waits there keeps its place but gets a new revision, and one
// that was parked waits again, at the end. Without report, an entry that waits keeps waiting, and will be reported as
// the event is then.
//
// ev must have an id, a type, an actor id and a start; an end before the start is refused (ErrInvalid). Nothing of ev is
// kept. A full disk gives ErrFull and changes nothing.
func (j *Journal) Put(ev vms.Event, report bool) error {
	ev, body, err := sealChecked(ev)
	if err != nil {
		return fmt.Errorf("put event %q: %w", ev.ID, err)
	}
	if err := j.do(func(t *txn) error { return j.put(t, ev, body, report) }); err != nil {
		return fmt.Errorf("put event %q: %w", ev.ID, err)
	}
	j.metrics.puts.Inc()
	return nil
}

// sealChecked encodes an event that may be stored; it happens beside other callers, and only the sequence is filled in later.
func sealChecked(ev vms.Event) (vms.Event, []byte, error) {
	ev, err := checked(ev)
	if err != nil {
		return ev, nil, err
	}
	body, err := sealEvent(ev, 0)
	if err != nil {
		return ev, nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if len(body) > maxEventBytes {
		return ev, nil, fmt.Errorf("%w: %d bytes are more than %d", ErrInvalid, len(body), maxEventBytes)
	}
	return ev, body, nil
}

// checked refuses what could not be stored and found again, and cuts the times to milliseconds.
func checked(ev vms.Event) (vms.Event, error) {
	for _, f := range []struct {
		name, value string
		max         int
		required    bool
	}{
		{"id", ev.ID, maxIDBytes, true},
		{"type", ev.Type, maxNameBytes, true},
		{"actorId", ev.ActorID, maxNameBytes, true},
		{"actorType", ev.ActorType, maxNameBytes, false},
	} {
		switch {
		case f.required && f.value == "":
			return ev, fmt.Errorf("%w: it has no %s", ErrInvalid, f.name)
		case len(f.value) > f.max:
			return ev, fmt.Errorf("%w: %s has %d bytes, more than %d", ErrInvalid, f.name, len(f.value), f.max)
		case !utf8.ValidString(f.value):
			return ev, fmt.Errorf("%w: %s is not UTF-8", ErrInvalid, f.name)
		}
	}
	if ev.StartTimestamp.IsZero() {
		return ev, fmt.Errorf("%w: it has no startTimestamp", ErrInvalid)
	}
	ev.StartTimestamp = vms.At(ev.StartTimestamp.Time)
	if ev.EndTimestamp != nil {
		ev.EndTimestamp = vms.Ptr(ev.EndTimestamp.Time)
		if ev.EndTimestamp.Before(ev.StartTimestamp.Time) {
			return ev, fmt.Errorf("%w: it ends at %s, before its start at %s", ErrInvalid, ev.EndTimestamp, ev.StartTimestamp)
		}
	}
	for _, t := range []*vms.Time{&ev.StartTimestamp, ev.EndTimestamp} {
		if t != nil && (t.Year() < 1 || t.Year() > 9999) {
			return ev, fmt.Errorf("%w: the year %d cannot be written", ErrInvalid, t.Year())
		}
	}
	return ev, nil
}

func (j *Journal) put(t *txn, ev vms.Event, body []byte, report bool) error {
	if err := j.settleFirst(t, ev); err != nil {
		return err
	}
	id := []byte(ev.ID)
	var sequence uint64
	waited := t.bucket(bucketOutboxID).Get(id) != nil
	old := t.bucket(bucketEvents).Get(id)
	if waited {
		t.bytes -= int64(len(old))
	}
	if waited || report {
		t.bytes += int64(len(body))
	}
	if old != nil {
		// A damaged old value leaves its index entries behind; lists skip them, and Check names them.
		if h, err := decodeHead(old); err == nil {
			sequence = h.sequence
			if err := t.dropStale(ev.ID, h, headOf(ev)); err != nil {
				return err
			}
		}
	}
	if report {
		seq, err := t.enqueue(ev, j.opts.Now())
		if err != nil {
			return err
		}
		sequence = seq
	}
	if err := t.change(ev, j.opts.Now()); err != nil {
		return err
	}
	return t.store(ev, withSequence(body, sequence))
}

// store writes the event, its places in the indexes, and whether it is ongoing.
func (t *txn) store(ev vms.Event, body []byte) error {
	id := []byte(ev.ID)
	if t.bucket(bucketEvents).Get(id) == nil {
		t.stored++
	}
	if err := t.bucket(bucketEvents).Put(id, body); err != nil {
		return err
	}
	for _, e := range headOf(ev).indexEntries(ev.ID) {
		if err := t.bucket(e.bucket).Put(e.key, e.value); err != nil {
			return err
		}
	}
	ongoing := t.bucket(bucketOngoing)
	if !ev.Ongoing() {
		if err := ongoing.Delete(id); err != nil {
			return err
		}
	} else if ongoing.Get(id) == nil {
		if err := ongoing.Put(id, msKey(ev.StartTimestamp.UnixMilli())); err != nil {
			return err
		}
	}
	t.events = append(t.events, ev)
	return nil
}

// dropStale removes the places of an event whose new form is listed elsewhere.
func (t *txn) dropStale(id string, old, now head) error {
	kept := now.indexEntries(id)
	for i, e := range old.indexEntries(id) {
		if !bytes.Equal(e.key, kept[i].key) {
			if err := t.bucket(e.bucket).Delete(e.key); err != nil {
				return err
			}
		}
	}
	return nil
}

// Get is the event of that id, or ErrNotFound.
func (j *Journal) Get(id string) (ev vms.Event, err error) {
	if id == "" {
		return vms.Event{}, ErrNotFound
	}
	err = j.view(func(tx *bolt.Tx) error {
		b := txBucket(tx, bucketEvents).Get([]byte(id))
		if b == nil {
			return ErrNotFound
		}
		var err error
		ev, _, err = decodeEvent([]byte(id), b)
		return err
	})
	if err != nil {
		return vms.Event{}, fmt.Errorf("get event %q: %w", id, err)
	}
	return ev, nil
}
