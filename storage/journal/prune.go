package journal

import (
	"fmt"
	"math"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// One transaction removes pruneBatch events at first, and then as many as it can in pruneHold, so
// that a Put waits briefly; on a fast disk that is many, and the pages that every transaction
// writes (branches, the list of free pages) are written less often.
const (
	pruneBatch     = 500
	pruneBatchMost = 8000
	pruneHold      = 100 * time.Millisecond
)

// Retention says which events may go.
type Retention struct {
	// Before lets events go that ended earlier. The zero time lets none go by age.
	Before time.Time
	// Keep lets the oldest events (by start) go where there are more than so many that the service
	// has. 0 lets none go by number.
	Keep int
	// Oldest lets so many of the oldest events (by start) go, of those of the actors that Of names.
	Oldest int
	Of     func(vms.Actor) bool
	// Stop is asked now and then, and an error of its ends the pruning; nil never does.
	Stop func() error
}

// Prune removes what r lets go, and returns how many. Events that are ongoing, wait in the outbox
// or for a cursor, or are parked stay whatever their age, and do not count for Keep. It may be
// called at any time beside everything else; the space is reused, and Compact gives it back. What
// only cursors that are no more had still to read goes first.
func (j *Journal) Prune(r Retention) (int, error) {
	if err := j.consume(r.Stop); err != nil {
		return 0, fmt.Errorf("prune changes: %w", err)
	}
	total := 0
	if !r.Before.IsZero() {
		n, err := j.prune(r.Before.UnixMilli(), math.MaxInt, nil, r.Stop)
		if err != nil {
			return n, fmt.Errorf("prune events: %w", err)
		}
		total = n
	}
	if r.Keep > 0 {
		over, err := j.over(r.Keep)
		if err == nil && over > 0 {
			var n int
			n, err = j.prune(schema.EndOngoing, over, nil, r.Stop)
			total += n
		}
		if err != nil {
			return total, fmt.Errorf("prune events: %w", err)
		}
	}
	if r.Oldest > 0 {
		n, err := j.prune(schema.EndOngoing, r.Oldest, r.Of, r.Stop)
		if total += n; err != nil {
			return total, fmt.Errorf("prune events: %w", err)
		}
	}
	return total, nil
}

// consume removes the changes that every cursor is past.
func (j *Journal) consume(stop func() error) error {
	for {
		if stop != nil {
			if err := stop(); err != nil {
				return err
			}
		}
		more := false
		err := j.file.View(func(tx *bolt.Tx) (err error) {
			more, err = schema.Consumable(tx)
			return err
		})
		if err != nil || !more {
			return err
		}
		if err := j.file.Do((*schema.Tx).Consume); err != nil {
			return err
		}
	}
}

// over is by how many the accepted events are more than keep.
func (j *Journal) over(keep int) (n int, err error) {
	waiting, parked := j.file.Tally()
	err = j.file.View(func(tx *bolt.Tx) error {
		n = schema.Count(tx) - waiting - parked - keep
		return nil
	})
	return n, err
}

// prune removes up to n events that ended before the limit, the oldest first, of the actors that of
// names; nil is all.
func (j *Journal) prune(limit int64, n int, of func(vms.Actor) bool, stop func() error) (total int, err error) {
	var from []byte
	batch := pruneBatch
	for total < n {
		if stop != nil {
			if err := stop(); err != nil {
				return total, err
			}
		}
		keys, next, err := j.pruneCandidates(limit, from, min(batch, n-total), of)
		if err == nil && len(keys) > 0 {
			removed, began := 0, time.Now()
			err = j.file.Do(func(t *schema.Tx) error {
				removed = 0
				for _, k := range keys {
					ok, err := pruneAt(t, k, limit)
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
			batch = nextBatch(batch, time.Since(began))
		}
		if err != nil || next == nil {
			return total, err
		}
		from = next
	}
	return total, nil
}

// nextBatch is how many events the next transaction may remove, by how long one of the last size
// took.
func nextBatch(batch int, took time.Duration) int {
	switch {
	case took < pruneHold/2:
		return min(2*batch, pruneBatchMost)
	case took > pruneHold:
		return max(batch/2, pruneBatch)
	}
	return batch
}

// pruneCandidates reads a stretch of the index by time, after a place. The keys are the index's;
// next is where to go on, nil at the end.
func (j *Journal) pruneCandidates(limit int64, after []byte, n int, of func(vms.Actor) bool) (keys [][]byte,
	next []byte, err error) {
	err = j.file.View(func(tx *bolt.Tx) error {
		keys, next = nil, nil
		looked, more := 0, false
		ended(tx, limit, after, func(group, place []byte) bool {
			more = len(keys) == n || looked == 4*max(n, pruneBatch)
			if more {
				return false
			}
			looked++
			next = append(next[:0], place...)
			id := place[8:]
			if of != nil {
				if h, err := schema.ReadHead(guard.Bucket(tx, schema.Events).Get(id)); err != nil || !of(h.Actor) {
					return true
				}
			}
			if !schema.Owed(tx, id) {
				keys = append(keys, slices.Concat(group, place))
			}
			return true
		})
		if !more {
			next = nil
		}
		return nil
	})
	return keys, next, err
}

// pruneAt removes the event at a key of the index by time, if it still is there, ended, and
// reported.
func pruneAt(t *schema.Tx, key []byte, limit int64) (bool, error) {
	n := schema.GroupLen(key, 0)
	place := key[n:]
	id := place[8:]
	end := t.Bucket(schema.ByTime).Get(key)
	if len(end) != 8 || schema.KeyMS(end) >= limit || schema.Owed(t.Tx, id) {
		return false, nil
	}
	h, err := schema.ReadHead(t.Bucket(schema.Events).Get(id))
	if err != nil || h.Start != schema.KeyMS(place) || h.End != schema.KeyMS(end) {
		// Damaged, or listed here by mistake: this place at least goes.
		return false, t.Bucket(schema.ByTime).Delete(key)
	}
	return true, t.Erase(string(id), h)
}
