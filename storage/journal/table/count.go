package table

import (
	"encoding/binary"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/form"
)

// Create makes the buckets of a new file, and says of what form it is.
func Create(tx *bolt.Tx) error {
	for _, name := range form.Buckets {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return tx.Bucket(form.Format).Put(form.KeyVersion, []byte{form.Version})
}

// Keys counts a bucket's keys, walking it.
func Keys(b *bolt.Bucket) int {
	n := 0
	c := b.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		n++
	}
	return n
}

// Count is the number of events in the journal.
func Count(tx *bolt.Tx) int {
	if n := guard.Bucket(tx, form.Format).Get(form.KeyCount); len(n) == 8 {
		return int(binary.BigEndian.Uint64(n))
	}
	return 0
}

// AddEvents changes what Count says. Whoever ends a transaction calls it with Stored.
func (t *Tx) AddEvents(n int) error {
	if n == 0 {
		return nil
	}
	format := t.Bucket(form.Format)
	if old := format.Get(form.KeyCount); len(old) == 8 {
		n += int(binary.BigEndian.Uint64(old))
	}
	return format.Put(form.KeyCount, form.SequenceKey(uint64(n)))
}
