package schema

import (
	"bytes"
	"encoding/binary"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/uplink/vms"
)

// The sequence of changes is what the cursors read: one entry for each form of an event that
// someone may still have to learn of, in the order in which they were put. It names events and
// holds none of them, and an event has at most two entries in it, where it last was ongoing and
// where it last was not, so that it stays short however often an event is put again.

// Record appends an event that was put to the sequence, if anyone follows it.
func (t *Tx) Record(ev vms.Event, now time.Time) error {
	cursors, err := Cursors(t.Tx)
	if err != nil || len(cursors) == 0 {
		return err
	}
	place := LastChange(t.Tx)
	for _, c := range cursors {
		place = max(place, c.Place)
	}
	if err := t.Bucket(Changes).SetSequence(place + 1); err != nil {
		return err
	}
	t.Changed = true
	return t.NoteChange(place+1, Change{ID: ev.ID, Began: ev.Ongoing(), Since: now.UTC()})
}

// LastChange is a place that no entry stands behind.
func LastChange(tx *bolt.Tx) uint64 {
	changes := guard.Bucket(tx, Changes)
	place := changes.Sequence()
	if last, _ := changes.Cursor().Last(); len(last) == 8 {
		place = max(place, binary.BigEndian.Uint64(last))
	}
	return place
}

// NoteChange puts an entry at a place, and takes away those that it makes needless: an older one of
// the same kind, and an older end of an event that goes on again.
func (t *Tx) NoteChange(place uint64, v Change) error {
	ids, id := t.Bucket(ChangesID), []byte(v.ID)
	p := ReadChangePlaces(ids.Get(id))
	old := []uint64{p.Ended}
	if v.Began {
		old = append(old, p.Began)
		p = ChangePlaces{Began: place}
	} else {
		p.Ended = place
	}
	for _, o := range old {
		if o == 0 {
			continue
		}
		if err := t.Bucket(Changes).Delete(SequenceKey(o)); err != nil {
			return err
		}
	}
	value, err := v.Seal()
	if err != nil {
		return err
	}
	if err := t.Bucket(Changes).Put(SequenceKey(place), value); err != nil {
		return err
	}
	return ids.Put(id, p.Seal())
}

// consumeBatch bounds how many entries one transaction takes away.
const consumeBatch = 1000

// needless is the last place that every cursor is past.
func needless(tx *bolt.Tx) (uint64, error) {
	cursors, err := Cursors(tx)
	least := uint64(1<<64 - 1)
	for _, c := range cursors {
		least = min(least, c.Place)
	}
	return least, err
}

// Consumable says whether there is an entry that every cursor is past.
func Consumable(tx *bolt.Tx) (bool, error) {
	least, err := needless(tx)
	first, _ := guard.Bucket(tx, Changes).Cursor().First()
	return len(first) == 8 && binary.BigEndian.Uint64(first) <= least, err
}

// Consume takes away entries that every cursor is past, a batch of them.
func (t *Tx) Consume() error {
	least, err := needless(t.Tx)
	if err != nil {
		return err
	}
	changes := t.Bucket(Changes)
	var keys, values [][]byte
	c := changes.Cursor()
	for k, v := c.First(); len(k) == 8 && binary.BigEndian.Uint64(k) <= least &&
		len(keys) < consumeBatch; k, v = c.Next() {
		keys, values = append(keys, bytes.Clone(k)), append(values, bytes.Clone(v))
	}
	for i, k := range keys {
		if err := changes.Delete(k); err != nil {
			return err
		}
		var v Change
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
func (t *Tx) forgetPlace(id []byte, place uint64) error {
	ids := t.Bucket(ChangesID)
	p := ReadChangePlaces(ids.Get(id))
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

// ForgetChanges takes an event out of the sequence of changes.
func (t *Tx) ForgetChanges(id []byte) error {
	ids := t.Bucket(ChangesID)
	p := ReadChangePlaces(ids.Get(id))
	for _, place := range []uint64{p.Began, p.Ended} {
		if place != 0 {
			if err := t.Bucket(Changes).Delete(SequenceKey(place)); err != nil {
				return err
			}
		}
	}
	return ids.Delete(id)
}
