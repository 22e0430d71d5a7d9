package file

import (
	"bytes"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
)

// settle makes the outbox whole: a sequence beyond all that were given out, and entries for the
// events that may have been waiting. Then it counts.
func (s *salvager) settle() error {
	err := s.db.Update(func(tx *bolt.Tx) error {
		if err := guard.Bucket(tx, schema.Outbox).SetSequence(s.last); err != nil {
			return err
		}
		if err := guard.Bucket(tx, schema.Changes).SetSequence(s.lastChange); err != nil {
			return err
		}
		t := schema.New(tx, nil)
		if err := t.AddEvents(s.stored); err != nil {
			return err
		}
		if s.refused != 0 {
			if err := t.Bucket(schema.Format).Put(schema.KeyRefused, schema.SequenceKey(s.refused)); err != nil {
				return err
			}
		}
		return t.Bucket(schema.Format).Put(schema.KeyLow, schema.SequenceKey(s.low))
	})
	if err != nil {
		return err
	}
	from := s.low
	if s.parkedHoles && s.refused != 0 {
		from = min(from, s.refused)
	}
	if s.outboxHoles || s.parkedHoles {
		if err := s.requeue(from); err != nil {
			return err
		}
	}
	return s.db.View(func(tx *bolt.Tx) error {
		s.saved.Events = schema.Keys(guard.Bucket(tx, schema.Events))
		s.saved.Waiting = schema.Keys(guard.Bucket(tx, schema.Outbox))
		s.saved.Parked = schema.Keys(guard.Bucket(tx, schema.Parked))
		return nil
	})
}

// requeue puts every event from a sequence on that may have been waiting back into the outbox, at
// its old place.
func (s *salvager) requeue(sequence uint64) error {
	var from []byte
	for {
		type lostEntry struct {
			id   string
			head schema.Head
		}
		var batch []lostEntry
		err := s.db.View(func(tx *bolt.Tx) error {
			outboxID, parked := guard.Bucket(tx, schema.OutboxID), guard.Bucket(tx, schema.Parked)
			c := guard.Bucket(tx, schema.Events).Cursor()
			k, v := c.Seek(from)
			for ; k != nil && len(batch) < salvageBatch; k, v = c.Next() {
				if bytes.Equal(k, from) {
					continue
				}
				h, err := schema.ReadHead(v)
				if err == nil && h.Sequence != 0 && h.Sequence >= sequence && outboxID.Get(k) == nil &&
					parked.Get(k) == nil {
					batch = append(batch, lostEntry{string(k), h})
				}
			}
			return nil
		})
		if err != nil || len(batch) == 0 {
			return err
		}
		from = []byte(batch[len(batch)-1].id)
		err = s.db.Update(func(tx *bolt.Tx) error {
			t := schema.New(tx, nil)
			for _, e := range batch {
				key := schema.SequenceKey(e.head.Sequence)
				if t.Bucket(schema.Outbox).Get(key) != nil {
					key = nil // two events claim one place: this one goes to the end
				}
				if err := t.Requeue(e.id, e.head.Actor.ID, key, s.now); err != nil {
					return err
				}
				s.saved.Requeued++
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("put events back into the outbox: %w", err)
		}
	}
}
