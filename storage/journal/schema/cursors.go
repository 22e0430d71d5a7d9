package schema

import (
	"bytes"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
)

// Cursors are those of the file, by key. A damaged one is damage of the file.
func Cursors(tx *bolt.Tx) (map[string]Cursor, error) {
	found := map[string]Cursor{}
	c := guard.Bucket(tx, Meta).Cursor()
	for k, v := c.Seek([]byte(CursorPrefix)); bytes.HasPrefix(k, []byte(CursorPrefix)); k, v = c.Next() {
		var value Cursor
		if err := value.Read(v); err != nil {
			return nil, guard.Damaged(fmt.Sprintf("cursor %q: %v", k[len(CursorPrefix):], err))
		}
		found[string(k)] = value
	}
	return found, nil
}

// ErrNoCursor says that the file does not know a cursor: Cursors was called again without it, or
// damage took it.
var ErrNoCursor = errors.New("the journal does not know this cursor")

// Cursor is the cursor of a key, or ErrNoCursor.
func CursorOf(tx *bolt.Tx, key []byte) (v Cursor, err error) {
	b := guard.Bucket(tx, Meta).Get(key)
	if b == nil {
		return v, ErrNoCursor
	}
	err = v.Read(b)
	return v, err
}

// SetCursor makes or changes a cursor.
func (t *Tx) SetCursor(key []byte, v Cursor) error {
	value, err := v.Seal()
	if err != nil {
		return err
	}
	return t.Bucket(Meta).Put(key, value)
}

// CountChanges is how many entries of the sequence stand behind a place.
func CountChanges(tx *bolt.Tx, after uint64) (n int) {
	c := guard.Bucket(tx, Changes).Cursor()
	for k, _ := c.Seek(SequenceKey(after + 1)); k != nil; k, _ = c.Next() {
		n++
	}
	return n
}
