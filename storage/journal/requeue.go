package journal

import (
	"bytes"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
)

// settle makes the outbox whole: a sequence beyond all that were given out, and entries for the events that may have been
// waiting. Then it counts.
func (s *salvager) settle() error {
	err := s.db.Update(func(tx *bolt.Tx) error {
		if err := txBucket(tx, bucketOutbox).SetSequence(s.last); err != nil {
			return err
		}
		if err := txBucket(tx, bucketChanges).SetSequence(s.lastChange); err != nil {
			return err
		}
		t := &txn{Tx: tx}
		if err := addCount(t.bucket(bucketFormat), s.stored); err != nil {
			return err
		}
		return t.bucket(bucketFormat).Put(keyLow, sequenceKey(s.low))
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
		s.damage.Events = keys(txBucket(tx, bucketEvents))
		s.damage.Waiting = keys(txBucket(tx, bucketOutbox))
		s.damage.Parked = keys(txBucket(tx, bucketParked))
		return nil
	})
}

// requeue puts every event that may have been waiting back into the outbox, at its old place.
func (s *salvager) requeue() error {
	var from []byte
	for {
		type lostEntry struct {
			id   string
			head head
		}
		var batch []lostEntry
		err := s.db.View(func(tx *bolt.Tx) error {
			outboxID, parked := txBucket(tx, bucketOutboxID), txBucket(tx, bucketParked)
			c := txBucket(tx, bucketEvents).Cursor()
			k, v := c.Seek(from)
			for ; k != nil && len(batch) < salvageBatch; k, v = c.Next() {
				if bytes.Equal(k, from) {
					continue
				}
				h, err := decodeHead(v)
				if err == nil && h.sequence != 0 && h.sequence >= s.low && outboxID.Get(k) == nil && parked.Get(k) == nil {
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
				key := sequenceKey(e.head.sequence)
				if t.bucket(bucketOutbox).Get(key) != nil {
					key = nil // two events claim one place: this one goes to the end
				}
				if err := t.requeue(e.id, e.head.actor.ID, key, s.now); err != nil {
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
	revision, err := nextSequence(t.bucket(bucketOutbox))
	if err != nil {
		return err
	}
	if key == nil {
		key = sequenceKey(revision)
	}
	value, err := (entryValue{ID: id, ActorID: actorID, Revision: revision, Since: now}).seal()
	if err != nil {
		return err
	}
	if err := t.bucket(bucketOutboxID).Put([]byte(id), key); err != nil {
		return err
	}
	return t.bucket(bucketOutbox).Put(key, value)
}
