package file

import (
	"encoding/binary"

	"vmsbridge/storage/journal/schema"
)

// rest takes everything of the tree that is not an event or an index.
func (s *salvager) rest(bucket string, k, v []byte) error {
	if bucket == s.witness.index {
		return s.listed(bucket, k, v)
	}
	switch bucket {
	case string(schema.Outbox):
		return s.entry(k, v, false)
	case string(schema.Parked):
		return s.park(k, v)
	case string(schema.Changes):
		return s.change(k, v)
	case string(schema.Meta):
		return s.meta(k, v)
	case string(schema.Ongoing):
		t, err := s.txn()
		if err != nil {
			return err
		}
		if noted := t.Bucket(schema.Ongoing).Get(k); noted == nil || len(v) != 8 ||
			schema.KeyMS(noted) >= schema.KeyMS(v) {
			return nil
		}
		return t.Bucket(schema.Ongoing).Put(k, v)
	}
	return nil
}

func (s *salvager) strayRest(k, v []byte) error {
	if len(k) == 0 {
		return nil
	}
	switch string(schema.BucketOf(v)) {
	case string(schema.Outbox):
		return s.entry(k, v, true)
	case string(schema.Parked):
		return s.park(k, v)
	case string(schema.Meta):
		return s.meta(k, v)
	case string(schema.Changes):
		return s.change(k, v)
	}
	return nil
}

func (s *salvager) entry(k, v []byte, stray bool) error {
	var e schema.Entry
	if err := e.Read(v); err != nil || len(k) != 8 || e.ID == "" {
		if !stray {
			s.saved.DamagedValues++
			s.outboxHoles = true
		}
		return nil
	}
	sequence := binary.BigEndian.Uint64(k)
	s.last = max(s.last, sequence, e.Revision)
	t, err := s.txn()
	if err != nil {
		return err
	}
	id := []byte(e.ID)
	if stray && sequence < s.low || t.Bucket(schema.Events).Get(id) == nil ||
		t.Bucket(schema.OutboxID).Get(id) != nil || t.Bucket(schema.Outbox).Get(k) != nil {
		return nil
	}
	// An event cannot both wait and be parked; of two stray notes, to report it once more is the
	// safe one.
	if err := t.Bucket(schema.Parked).Delete(id); err != nil {
		return err
	}
	if err := t.Bucket(schema.OutboxID).Put(id, k); err != nil {
		return err
	}
	return t.Bucket(schema.Outbox).Put(k, v)
}

// meta takes a value of the owner's. One that the tree has wins over a stray one.
func (s *salvager) meta(k, v []byte) error {
	t, err := s.txn()
	if err != nil {
		return err
	}
	if _, err := schema.ReadOwned(v); err != nil || t.Bucket(schema.Meta).Get(k) != nil {
		return nil
	}
	return t.Bucket(schema.Meta).Put(k, v)
}

func (s *salvager) park(id, v []byte) error {
	if err := new(schema.ParkedEntry).Read(v); err != nil {
		s.saved.DamagedValues++
		s.parkedHoles = true
		return nil
	}
	t, err := s.txn()
	if err != nil {
		return err
	}
	if t.Bucket(schema.Events).Get(id) == nil || t.Bucket(schema.OutboxID).Get(id) != nil {
		return nil
	}
	return t.Bucket(schema.Parked).Put(id, v)
}

// change takes an entry of the sequence of changes. Those that all cursors are past, which a stray
// page may hold, go when the cursors are opened. An entry that cannot be read is lost to those who
// follow; the events themselves are not.
func (s *salvager) change(k, v []byte) error {
	var e schema.Change
	if err := e.Read(v); err != nil || len(k) != 8 || e.ID == "" {
		s.saved.DamagedValues++
		return nil
	}
	t, err := s.txn()
	if err != nil {
		return err
	}
	place := binary.BigEndian.Uint64(k)
	s.lastChange = max(s.lastChange, place)
	if schema.ReadChangePlaces(t.Bucket(schema.ChangesID).Get([]byte(e.ID))).Newest() >= place {
		return nil // read already, or of an older form
	}
	return t.NoteChange(place, e)
}
