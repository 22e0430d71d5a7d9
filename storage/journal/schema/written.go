package schema

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

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
	return appendSequences(t.Tx, b)
}

func appendSequences(tx *bolt.Tx, b []byte) []byte {
	for _, name := range [][]byte{Outbox, Changes} {
		b = appendRow(b, rowSequence, name, nil, SequenceKey(guard.Bucket(tx, name).Sequence()))
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

// tagOf is that of the values with a checksum, by bucket.
var tagOf = map[string]byte{string(Events): tagEvent, string(Outbox): tagEntry, string(Parked): tagParked,
	string(Meta): tagMeta, string(Changes): tagChange}

// RowPlace is where Rows goes on; the zero value is the beginning.
type RowPlace struct {
	bucket int
	key    []byte
}

// ofThisFile are keys of the format bucket that say something of the file itself.
var ofThisFile = [][]byte{KeyVersion, KeyClean, KeyLog, KeySegments, KeyProbe}

// Rows appends to b, as rows of a record, what the journal holds from a place on, until that is
// limit bytes or all of it: then done is true. It keeps nothing of tx. A value that is
// damaged gives ErrDamaged.
func Rows(tx *bolt.Tx, b []byte, from RowPlace, limit int) (_ []byte, next RowPlace, done bool, err error) {
	end := len(b) + limit
	for ; from.bucket < len(Buckets); from = (RowPlace{bucket: from.bucket + 1}) {
		name := Buckets[from.bucket]
		c := guard.Bucket(tx, name).Cursor()
		for k, v := c.Seek(from.key); k != nil; k, v = c.Next() {
			if len(b) >= end {
				return b, RowPlace{from.bucket, bytes.Clone(k)}, false, nil
			}
			if b, err = AppendSound(b, name, k, v); err != nil {
				return nil, from, false, fmt.Errorf("bucket %q, key %q: %w", name, k, err)
			}
		}
	}
	return appendSequences(tx, b), from, true, nil
}

// AppendSound appends a row of a bucket to a record, but for what is not the journal's, or says
// something of the file itself. A value that is damaged gives ErrDamaged, and the record as it was.
func AppendSound(b, bucket, k, v []byte) ([]byte, error) {
	if tag := tagOf[string(bucket)]; tag != 0 {
		if _, err := verified(tag, v); err != nil {
			return b, err
		}
	}
	is := func(other []byte) func([]byte) bool { return func(b []byte) bool { return bytes.Equal(b, other) } }
	if !slices.ContainsFunc(Buckets, is(bucket)) || string(bucket) == string(Format) &&
		slices.ContainsFunc(ofThisFile, is(k)) {
		return b, nil
	}
	return appendRow(b, rowPut, bucket, k, v), nil
}

// CutRows cuts off the rows of a record that are in its first limit bytes, and at least one.
func CutRows(record []byte, limit int) (first, rest []byte, err error) {
	for rest = record; len(rest) > 0 && len(record)-len(rest) < limit; {
		if _, _, _, rest, err = cutRow(rest); err != nil {
			return nil, nil, err
		}
	}
	return record[:len(record)-len(rest)], rest, nil
}

// Replay does once more what a record says. Doing it twice is as doing it once.
func Replay(tx *bolt.Tx, record []byte) error {
	for len(record) > 0 {
		head, key, value, rest, err := cutRow(record)
		if err != nil {
			return err
		}
		if err := replayRow(guard.Bucket(tx, Buckets[head[1]]), head[0], key, value); err != nil {
			return err
		}
		record = rest
	}
	return nil
}

// cutRow takes the first row off: what and where, key, value.
func cutRow(record []byte) (head, key, value, rest []byte, err error) {
	if len(record) < 2 || int(record[1]) >= len(Buckets) {
		return nil, nil, nil, nil, fmt.Errorf("%w: a row of a record of changes", ErrDamaged)
	}
	key, rest, ok := cutField(record[2:])
	value, rest, whole := cutField(rest)
	if !ok || !whole {
		return nil, nil, nil, nil, fmt.Errorf("%w: a row of a record of changes is cut off", ErrDamaged)
	}
	return record[:2], key, value, rest, nil
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
