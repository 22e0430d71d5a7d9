package schema

import (
	"bytes"
	"encoding/binary"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
)

// Create makes the buckets of a new file, and says of what form it is.
func Create(tx *bolt.Tx) error {
	for _, name := range Buckets {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return tx.Bucket(Format).Put(KeyVersion, []byte{Version})
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
	if n := guard.Bucket(tx, Format).Get(KeyCount); len(n) == 8 {
		return int(binary.BigEndian.Uint64(n))
	}
	return 0
}

// AddEvents changes what Count says. Whoever ends a transaction calls it with Stored.
func (t *Tx) AddEvents(n int) error {
	if n == 0 {
		return nil
	}
	format := t.Bucket(Format)
	if old := format.Get(KeyCount); len(old) == 8 {
		n += int(binary.BigEndian.Uint64(old))
	}
	return format.Put(KeyCount, SequenceKey(uint64(n)))
}

// Low is from which place in the outbox on events may wait, and be parked (0: none is).
func Low(tx *bolt.Tx) (low, refused uint64) {
	format := guard.Bucket(tx, Format)
	if v := format.Get(KeyLow); len(v) == 8 {
		low = binary.BigEndian.Uint64(v)
	}
	if v := format.Get(KeyRefused); len(v) == 8 {
		refused = binary.BigEndian.Uint64(v)
	}
	return low, refused
}

// Noted is how many entries wait and are parked, as the file says. Where it does not, or where a
// program that does not note it has changed the outbox since, it is the most that can wait, which
// in an outage of days is nearly all of what does. CountQueues counts.
func Noted(tx *bolt.Tx) (waiting, parked int) {
	format := guard.Bucket(tx, Format)
	v := format.Get(KeyTally)
	if len(v) == tallyBytes && bytes.Equal(v[16:], outboxMark(tx)) {
		return int(binary.BigEndian.Uint64(v)), int(binary.BigEndian.Uint64(v[8:]))
	}
	last := guard.Bucket(tx, Outbox).Sequence()
	low, _ := Low(tx)
	if low > last {
		return 0, 0
	}
	return min(int(last-low+1), Count(tx)), 0
}

// CountQueues is how many entries wait and are parked. It walks both, which takes minutes for
// millions on a cold disk.
func CountQueues(tx *bolt.Tx) (waiting, parked int) {
	return Keys(guard.Bucket(tx, Outbox)), Keys(guard.Bucket(tx, Parked))
}

const tallyBytes = 4 * 8

// outboxMark changes with the outbox.
func outboxMark(tx *bolt.Tx) []byte {
	mark := SequenceKey(guard.Bucket(tx, Outbox).Sequence())
	return append(append(mark, guard.Bucket(tx, Format).Get(KeyLow)...), make([]byte, 8)...)[:16]
}

// NoteQueues notes for Noted how many wait and are parked now. Whoever ends a transaction calls it.
func (t *Tx) NoteQueues(waiting, parked int) error {
	v := append(append(SequenceKey(uint64(waiting)), SequenceKey(uint64(parked))...), outboxMark(t.Tx)...)
	format := t.Bucket(Format)
	if bytes.Equal(format.Get(KeyTally), v) {
		return nil
	}
	return format.Put(KeyTally, v)
}
