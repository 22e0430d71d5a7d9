package journal

import (
	"bytes"
	"encoding/binary"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/form"
	"vmsbridge/uplink/vms"
)

// The sequence of changes is what the cursors read: one entry for each form of an event that someone may still have to learn
// of, in the order in which they were put. It names events and holds none of them, and an event has at most two entries in it,
// where it last was ongoing and where it last was not, so that it stays short however often an event is put again.

// change appends an event that was put to the sequence, if anyone follows it.
func (t *txn) change(ev vms.Event, now time.Time) error {
	cursors, err := t.cursors()
	if err != nil || len(cursors) == 0 {
		return err
	}
	place := t.lastChange()
	for _, c := range cursors {
		place = max(place, c.Place)
	}
	if err := t.bucket(form.Changes).SetSequence(place + 1); err != nil {
		return err
	}
	t.changed = true
	return t.noteChange(place+1, form.Change{ID: ev.ID, Began: ev.Ongoing(), Since: now.UTC()})
}

// lastChange is a place that no entry stands behind.
func (t *txn) lastChange() uint64 { return lastChange(t.Tx) }

func lastChange(tx *bolt.Tx) uint64 {
	changes := txBucket(tx, form.Changes)
	place := changes.Sequence()
	if last, _ := changes.Cursor().Last(); len(last) == 8 {
		place = max(place, binary.BigEndian.Uint64(last))
	}
	return place
}

// noteChange puts an entry at a place, and takes away those that it makes needless: an older one of the same kind, and an
// older end of an event that goes on again.
func (t *txn) noteChange(place uint64, v form.Change) error {
	ids, id := t.bucket(form.ChangesID), []byte(v.ID)
	p := form.ReadChangePlaces(ids.Get(id))
	old := []uint64{p.Ended}
	if v.Began {
		old = append(old, p.Began)
		p = form.ChangePlaces{Began: place}
	} else {
		p.Ended = place
	}
	for _, o := range old {
		if o == 0 {
			continue
		}
		if err := t.bucket(form.Changes).Delete(form.SequenceKey(o)); err != nil {
			return err
		}
	}
	value, err := v.Seal()
	if err != nil {
		return err
	}
	if err := t.bucket(form.Changes).Put(form.SequenceKey(place), value); err != nil {
		return err
	}
	return ids.Put(id, p.Seal())
}

// consumeBatch bounds how many entries one transaction takes away.
const consumeBatch = 1000

// consume takes away entries that every cursor is past.
func (t *txn) consume() error {
	cursors, err := t.cursors()
	if err != nil {
		return err
	}
	least := uint64(1<<64 - 1)
	for _, c := range cursors {
		least = min(least, c.Place)
	}
	changes := t.bucket(form.Changes)
	var keys, values [][]byte
	c := changes.Cursor()
	for k, v := c.First(); len(k) == 8 && binary.BigEndian.Uint64(k) <= least && len(keys) < consumeBatch; k, v = c.Next() {
		keys, values = append(keys, bytes.Clone(k)), append(values, bytes.Clone(v))
	}
	for i, k := range keys {
		if err := changes.Delete(k); err != nil {
			return err
		}
		var v form.Change
		if v.Read(values[i]) != nil || v.ID == "" {
			continue // its event's note goes when the next entry of that event does
		}
		if err := t.forgetPlace([]byte(v.ID), binary.BigEndian.Uint64(k)); err != nil {
			return err
		}
	}
	return nil
}

// forgetPlace takes a place out of its event's note.
func (t *txn) forgetPlace(id []byte, place uint64) error {
	ids := t.bucket(form.ChangesID)
	p := form.ReadChangePlaces(ids.Get(id))
	if p.Began <= place {
		p.Began = 0
	}
	if p.Ended <= place {
		p.Ended = 0
	}
	if p.Newest() == 0 {
		return ids.Delete(id)
	}
	return ids.Put(id, p.Seal())
}

// wanted says whether a cursor still has to read of an event.
func wanted(tx *bolt.Tx, id []byte) bool { return txBucket(tx, form.ChangesID).Get(id) != nil }
