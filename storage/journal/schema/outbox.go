package schema

import (
	"encoding/binary"
	"slices"
	"time"

	"vmsbridge/uplink/vms"
)

// Enqueue puts ev at the end of the outbox, or renews the entry that waits. It returns the entry's
// sequence.
func (t *Tx) Enqueue(ev vms.Event, now time.Time) (uint64, error) {
	outbox, ids, id := t.Bucket(Outbox), t.Bucket(OutboxID), []byte(ev.ID)
	revision, err := nextSequence(outbox)
	if err != nil {
		return 0, err
	}
	entry := Entry{ID: ev.ID, ActorID: ev.ActorID, Revision: revision, Since: now.UTC()}
	key := ids.Get(id)
	if key != nil {
		// A damaged entry is renewed as a new one, in its old place.
		var old Entry
		if err := old.Read(outbox.Get(key)); err == nil {
			entry.Since = old.Since
		}
		key = slices.Clone(key)
	} else {
		key = SequenceKey(revision)
		if err := ids.Put(id, key); err != nil {
			return 0, err
		}
		t.Waiting++
	}
	value, err := entry.Seal()
	if err != nil {
		return 0, err
	}
	if err := outbox.Put(key, value); err != nil {
		return 0, err
	}
	if _, err := t.Unpark(ev.ID); err != nil {
		return 0, err
	}
	t.Queued = true
	return binary.BigEndian.Uint64(key), nil
}

// nextSequence never gives a number of an entry that waits, also if the bucket's own count was
// damaged.
func nextSequence(outbox Bucket) (uint64, error) {
	if last, _ := outbox.Cursor().Last(); len(last) == 8 && binary.BigEndian.Uint64(last) > outbox.Sequence() {
		if err := outbox.SetSequence(binary.BigEndian.Uint64(last)); err != nil {
			return 0, err
		}
	}
	return outbox.NextSequence()
}

// Entry is the entry of an id in the outbox with its key, or nil.
func (t *Tx) Entry(id string) (key []byte, entry *Entry) {
	key = t.Bucket(OutboxID).Get([]byte(id))
	if key == nil {
		return nil, nil
	}
	entry = &Entry{ID: id}
	// A damaged entry has revision 0, which no AckAll names; Put and Drop still reach it.
	_ = entry.Read(t.Bucket(Outbox).Get(key))
	return slices.Clone(key), entry
}

// Remove takes an entry out of the outbox.
func (t *Tx) Remove(key []byte, id string) error {
	outbox := t.Bucket(Outbox)
	if err := outbox.Delete(key); err != nil {
		return err
	}
	if err := t.Bucket(OutboxID).Delete([]byte(id)); err != nil {
		return err
	}
	t.Waiting--
	t.Bytes -= int64(len(t.Bucket(Events).Get([]byte(id))))
	// low lets a recovery that lost a part of the outbox tell which events the service surely has.
	low := SequenceKey(outbox.Sequence() + 1)
	if first, _ := outbox.Cursor().First(); first != nil {
		low = slices.Clone(first)
	}
	return t.Bucket(Format).Put(KeyLow, low)
}

// Requeue makes an entry at the given key, or at the end for nil.
func (t *Tx) Requeue(id, actorID string, key []byte, now time.Time) error {
	revision, err := nextSequence(t.Bucket(Outbox))
	if err != nil {
		return err
	}
	if key == nil {
		key = SequenceKey(revision)
	}
	value, err := (Entry{ID: id, ActorID: actorID, Revision: revision, Since: now}).Seal()
	if err != nil {
		return err
	}
	if err := t.Bucket(OutboxID).Put([]byte(id), key); err != nil {
		return err
	}
	return t.Bucket(Outbox).Put(key, value)
}

// Rename gives what waits or is parked under an id another one. It says whether it waits.
func (t *Tx) Rename(old, id string, shift time.Duration) (waits bool, err error) {
	key, entry := t.Entry(old)
	if entry != nil {
		outbox := t.Bucket(Outbox)
		entry.ID, entry.Since = id, entry.Since.Add(shift)
		if entry.Revision, err = nextSequence(outbox); err != nil {
			return false, err
		}
		value, err := entry.Seal()
		if err != nil {
			return false, err
		}
		if err := outbox.Put(key, value); err != nil {
			return false, err
		}
		if err := t.Bucket(OutboxID).Delete([]byte(old)); err != nil {
			return false, err
		}
		t.Queued = true
		return true, t.Bucket(OutboxID).Put([]byte(id), key)
	}
	parked := t.Bucket(Parked)
	value := slices.Clone(parked.Get([]byte(old)))
	if value == nil {
		return false, nil
	}
	if err := parked.Delete([]byte(old)); err != nil {
		return false, err
	}
	return false, parked.Put([]byte(id), value)
}
