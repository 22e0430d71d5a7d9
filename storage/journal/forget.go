package journal

import (
	"bytes"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// Forget removes the events of the actors that gone names, ongoing ones too, and returns how many:
// those of an account that was deleted. What waits in the outbox, is parked, or is still to be told
// to somebody stays. It reads every event's head, in stretches, so that others come in between;
// events that are put meanwhile may stay.
func (j *Journal) Forget(gone func(vms.Actor) bool) (total int, err error) {
	var from []byte
	for {
		ids, next, err := j.forgettable(gone, from)
		if err == nil && len(ids) > 0 {
			removed := 0
			err = j.file.Do(func(t *schema.Tx) error {
				removed = 0
				for _, id := range ids {
					h, err := schema.ReadHead(t.Bucket(schema.Events).Get(id))
					if err != nil || !gone(h.Actor) || schema.Owed(t.Tx, id) {
						continue // it changed meanwhile, or went
					}
					if err := t.Erase(string(id), h); err != nil {
						return err
					}
					removed++
				}
				return nil
			})
			if err == nil {
				total += removed
				j.metrics.pruned.Add(float64(removed))
			}
		}
		if err != nil {
			return total, fmt.Errorf("forget events: %w", err)
		}
		if next == nil {
			return total, nil
		}
		from = next
	}
}

// forgettable reads a stretch of the events after a key. next is where to go on, nil at the end. A
// damaged event is nobody's.
func (j *Journal) forgettable(gone func(vms.Actor) bool, after []byte) (ids [][]byte, next []byte, err error) {
	err = j.file.View(func(tx *bolt.Tx) error {
		ids, next = nil, nil
		c := guard.Bucket(tx, schema.Events).Cursor()
		k, v := c.Seek(after)
		if after != nil && bytes.Equal(k, after) {
			k, v = c.Next()
		}
		for looked := 0; k != nil; k, v = c.Next() {
			if h, err := schema.ReadHead(v); err == nil && gone(h.Actor) && !schema.Owed(tx, k) {
				ids = append(ids, bytes.Clone(k))
			}
			if looked++; looked == 8*pruneBatch || len(ids) == pruneBatch {
				next = bytes.Clone(k)
				return nil
			}
		}
		return nil
	})
	return ids, next, err
}
