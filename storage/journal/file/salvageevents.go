package file

import (
	"bytes"
	"encoding/binary"

	"vmsbridge/storage/journal/schema"
)

// event takes the events of the tree.
func (s *salvager) event(bucket string, k, v []byte) error {
	switch bucket {
	case string(schema.Events):
		return s.keep(k, v, false)
	case string(schema.Format):
		if bytes.Equal(k, schema.KeyLow) && len(v) == 8 {
			s.low = binary.BigEndian.Uint64(v)
		}
		if bytes.Equal(k, schema.KeyRefused) && len(v) == 8 {
			s.refused = binary.BigEndian.Uint64(v)
		}
	}
	return nil
}

func (s *salvager) strayEvent(k, v []byte) error {
	if !bytes.Equal(schema.BucketOf(v), schema.Events) {
		return nil
	}
	return s.keep(k, v, true)
}

// keep stores an event, unless a better version of it is there. A stray one must agree with the
// witness. Of two versions the one that ended is better, then the one with the later end, then the
// one put into the outbox later; the tree's wins a draw.
func (s *salvager) keep(key, value []byte, stray bool) error {
	ev, h, err := schema.ReadEvent(nil, value) // the key has no checksum
	sequence, patched := h.Sequence, false
	if err == nil {
		ev, err = schema.Checked(ev)
	}
	if err == nil && stray {
		ev, h, patched, err = s.witness.judge(ev, h)
	}
	if err != nil {
		if !stray {
			s.saved.DamagedValues++
			s.outboxHoles = true // the version that waited may be another one
		}
		return nil
	}
	s.last = max(s.last, sequence)
	id := []byte(ev.ID)
	if !stray && !bytes.Equal(id, key) {
		s.saved.DamagedValues++
	}
	t, err := s.txn()
	if err != nil {
		return err
	}
	if old, err := schema.ReadHead(t.Bucket(schema.Events).Get(id)); err == nil {
		// the form that has ended itself is better than one that was given its end
		whole := s.witness.patched[ev.ID] && !patched
		if !whole && (h.End == old.End && sequence <= old.Sequence || h.End != old.End &&
			(h.End == schema.EndOngoing || old.End != schema.EndOngoing && h.End < old.End)) {
			return nil
		}
		if err := t.DropStale(ev.ID, old, h); err != nil {
			return err
		}
		sequence = max(sequence, old.Sequence)
	}
	if stray {
		s.saved.Stray++
		if s.witness.patched != nil {
			s.witness.patched[ev.ID] = patched
		}
	}
	body, err := schema.SealEvent(ev, sequence)
	if err != nil {
		return nil // cannot be: it was just decoded
	}
	defer func() { s.stored += t.Stored }()
	return t.Store(ev, body)
}
