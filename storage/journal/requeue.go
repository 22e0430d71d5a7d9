package journal

import (
	"bytes"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/form"
)

// settle makes the outbox whole: a sequence beyond all that were given out, and entries for the events that may have been
// waiting. Then it counts.
func (s *salvager) settle() error {
	err := s.db.Update(func(tx *bolt.Tx) error {
		if err := txBucket(tx, form.Outbox).SetSequence(s.last); err != nil {
			return err
		}
		if err := txBucket(tx, form.Changes).SetSequence(s.lastChange); err != nil {
			return err
		}
		t := &txn{Tx: tx}
		if err := addCount(t.bucket(form.Format), s.stored); err != nil {
			return err
		}
		return t.bucket(form.Format).Put(form.KeyLow, form.SequenceKey(s.low))
	})
	if err != nil {
		return err
	}
	if s.outboxHoles {
		if err := s.requeue(); err != nil {
			return err
		}
	}
	return s.db.View(func(tx *bolt.Tx) error {
		s.damage.Events = keys(txBucket(tx, form.Events))
		s.damage.Waiting = keys(txBucket(tx, form.Outbox))
		s.damage.Parked = keys(txBucket(tx, form.Parked))
		return nil
	})
}

// requeue puts every event that may have been waiting back into the outbox, at its old place.
func (s *salvager) requeue() error {
	var from []byte
	for {
		type lostEntry struct {
			id   string
			head form.Head
		}
		var batch []lostEntry
		err := s.db.View(func(tx *bolt.Tx) error {
			outboxID, parked := txBucket(tx, form.OutboxID), txBucket(tx, form.Parked)
			c := txBucket(tx, form.Events).Cursor()
			k, v := c.Seek(from)
			for ; k != nil && len(batch) < salvageBatch; k, v = c.Next() {
				if bytes.Equal(k, from) {
					continue
				}
				h, err := form.ReadHead(v)
				if err == nil && h.Sequence != 0 && h.Sequence >= s.low && outboxID.Get(k) == nil && parked.Get(k) == nil {
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
			t := &txn{Tx: tx}
			for _, e := range batch {
				key := form.SequenceKey(e.head.Sequence)
				if t.bucket(form.Outbox).Get(key) != nil {
					key = nil // two events claim one place: this one goes to the end
				}
				if err := t.requeue(e.id, e.head.Actor.ID, key, s.now); err != nil {
					return err
				}
				s.damage.Requeued++
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("put events back into the outbox: %w", err)
		}
	}
}

// requeue makes an entry at the given key, or at the end for nil.
func (t *txn) requeue(id, actorID string, key []byte, now time.Time) error {
	revision, err := nextSequence(t.bucket(form.Outbox))
	if err != nil {
		return err
	}
	if key == nil {
		key = form.SequenceKey(revision)
	}
	value, err := (form.Entry{ID: id, ActorID: actorID, Revision: revision, Since: now}).Seal()
	if err != nil {
		return err
	}
	if err := t.bucket(form.OutboxID).Put([]byte(id), key); err != nil {
		return err
	}
	return t.bucket(form.Outbox).Put(key, value)
}
