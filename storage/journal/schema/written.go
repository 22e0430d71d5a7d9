package schema

import (
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
)

// What a row of a record says.
const (
	rowPut      = 1
	rowDelete   = 2
	rowSequence = 3 // the bucket's sequence, without a key
	rowActivity = 4 // when an event was last known to go on, if it still goes on, and that is later
)

// Written is what the transaction has changed, as a record that Replay takes; nil if that is
// nothing.
func (t *Tx) Written() []byte {
	if len(t.wrote) == 0 {
		return nil
	}
	b := make([]byte, 0, 2048)
	for k := range t.wrote {
		op, value := byte(rowPut), guard.Bucket(t.Tx, []byte(k.Bucket)).Get([]byte(k.Key))
		if value == nil {
			op = rowDelete
		}
		b = appendRow(b, op, []byte(k.Bucket), []byte(k.Key), value)
	}
	for _, name := range [][]byte{Outbox, Changes} {
		b = appendRow(b, rowSequence, name, nil, SequenceKey(guard.Bucket(t.Tx, name).Sequence()))
	}
	return b
}

// ActivityRecord is a record that ongoing events were last known to go on at these times, in
// milliseconds since 1970, by id.
func ActivityRecord(last map[string]int64) (b []byte) {
	for id, ms := range last {
		b = appendRow(b, rowActivity, Ongoing, []byte(id), MSKey(ms))
	}
	return b
}

func appendRow(b []byte, op byte, bucket, key, value []byte) []byte {
	for i, name := range Buckets {
		if string(name) == string(bucket) {
			b = append(b, op, byte(i))
		}
	}
	b = append(binary.AppendUvarint(b, uint64(len(key))), key...)
	return append(binary.AppendUvarint(b, uint64(len(value))), value...)
}

// Replay does once more what a record says. Doing it twice is as doing it once.
func Replay(tx *bolt.Tx, record []byte) error {
	for len(record) > 0 {
		if len(record) < 2 || int(record[1]) >= len(Buckets) {
			return fmt.Errorf("%w: a row of a record of changes", ErrDamaged)
		}
		op, b := record[0], guard.Bucket(tx, Buckets[record[1]])
		key, rest, ok := cutField(record[2:])
		value, rest, whole := cutField(rest)
		if !ok || !whole {
			return fmt.Errorf("%w: a row of a record of changes is cut off", ErrDamaged)
		}
		if err := replayRow(b, op, key, value); err != nil {
			return err
		}
		record = rest
	}
	return nil
}

func replayRow(b *bolt.Bucket, op byte, key, value []byte) error {
	switch {
	case op == rowPut && len(key) > 0:
		return b.Put(key, value)
	case op == rowDelete:
		return b.Delete(key)
	case op == rowSequence && len(value) == 8:
		return b.SetSequence(binary.BigEndian.Uint64(value))
	case op == rowActivity && len(value) == 8:
		if noted := b.Get(key); len(noted) != 8 || KeyMS(noted) >= KeyMS(value) {
			return nil
		}
		return b.Put(key, value)
	}
	return fmt.Errorf("%w: a row of a record of changes has the kind %d", ErrDamaged, op)
}

// cutField takes a field off, which its length precedes.
func cutField(b []byte) (field, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return nil, nil, false
	}
	return b[size : size+int(n)], b[size+int(n):], true
}
