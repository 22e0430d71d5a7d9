package journal

import (
	"bytes"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
)

// pruneBatch bounds the events that one transaction removes, so that a Put waits briefly.
const pruneBatch = 500

// Prune removes the events that ended before the given time, and returns how many. Events that are ongoing, wait in the
// outbox, or are parked stay whatever their age. It may be called at any time beside everything else; the space is
// reused, the file does not shrink.
func (j *Journal) Prune(before time.Time) (int, error) {
	limit := before.UnixMilli()
	total := 0
	var from []byte
	for {
		places, next, err := j.pruneCandidates(limit, from)
		if err == nil && len(places) > 0 {
			removed := 0
			err = j.do(func(t *txn) error {
				removed = 0
				for _, p := range places {
					ok, err := t.prune(p, limit)
					if err != nil {
						return err
					}
					if ok {
						removed++
					}
				}
				return nil
			})
			if err == nil {
				total += removed
				j.metrics.pruned.Add(float64(removed))
			}
		}
		if err != nil {
			return total, fmt.Errorf("prune events: %w", err)
		}
		if next == nil {
			return total, nil
		}
		from = next
	}
}

// pruneCandidates reads a stretch of the index by time, from a place on. next is where to go on, nil at the end.
func (j *Journal) pruneCandidates(limit int64, from []byte) (places [][]byte, next []byte, err error) {
	err = j.view(func(tx *bolt.Tx) error {
		places, next = nil, nil
		outbox, parked := txBucket(tx, bucketOutboxID), txBucket(tx, bucketParked)
		c := txBucket(tx, bucketByTime).Cursor()
		// An event that ended before the limit began before it.
		stop := msKey(limit)
		for k, v := c.Seek(from); k != nil && bytes.Compare(k, stop) < 0; k, v = c.Next() {
			if len(places) == pruneBatch {
				next = bytes.Clone(k)
				return nil
			}
			if len(v) != 8 || keyMS(v) >= limit || outbox.Get(k[8:]) != nil || parked.Get(k[8:]) != nil {
				continue
			}
			places = append(places, bytes.Clone(k))
		}
		return nil
	})
	return places, next, err
}

// prune removes the event at a place, if it still is there, ended, and reported.
func (t *txn) prune(p []byte, limit int64) (bool, error) {
	id := p[8:]
	end := t.bucket(bucketByTime).Get(p)
	if len(end) != 8 || keyMS(end) >= limit || t.bucket(bucketOutboxID).Get(id) != nil || t.bucket(bucketParked).Get(id) != nil {
		return false, nil
	}
	h, err := decodeHead(t.bucket(bucketEvents).Get(id))
	if err != nil || h.start != keyMS(p) || h.end != keyMS(end) {
		// Damaged, or listed here by mistake: this place at least goes.
		return false, t.bucket(bucketByTime).Delete(p)
	}
	return true, t.erase(string(id), h)
}

// erase removes an event and its places. It must not wait in the outbox nor be parked.
func (t *txn) erase(id string, h head) error {
	for _, e := range h.indexEntries(id) {
		if err := t.bucket(e.bucket).Delete(e.key); err != nil {
			return err
		}
	}
	if err := t.bucket(bucketOngoing).Delete([]byte(id)); err != nil {
		return err
	}
	return t.bucket(bucketEvents).Delete([]byte(id))
}
