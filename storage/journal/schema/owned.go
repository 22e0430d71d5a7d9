package schema

import (
	"encoding/binary"
	"encoding/json"
)

// The bucket of the owner's values holds some of the journal's own beside those, under keys that
// begin with a zero byte.

// SealOwned makes a stored value of bytes.
func SealOwned(b []byte) []byte { return resum(append([]byte{tagMeta, 0, 0, 0, 0}, b...)) }

// ReadOwned checks a stored value and returns the bytes, which belong to it.
func ReadOwned(b []byte) ([]byte, error) { return verified(tagMeta, b) }

// CursorPrefix begins the keys of cursors in the bucket of the owner's values, apart from the
// owner's by its zero byte.
const CursorPrefix = "\x00cursor/"

// Cursor is what the file says of a cursor.
type Cursor struct {
	Place   uint64 `json:"place"`             // everything up to it was dealt with
	Skipped uint64 `json:"skipped,omitempty"` // changes that Trim gave up
}

// CursorKey is the key of a cursor.
func CursorKey(name string) []byte { return []byte(CursorPrefix + name) }

// Seal is the value to store.
func (v Cursor) Seal() ([]byte, error) {
	raw, err := json.Marshal(v)
	return SealOwned(raw), err
}

// Read takes a stored cursor.
func (v *Cursor) Read(b []byte) error {
	raw, err := ReadOwned(b)
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	return err
}

// UntruePrefix begins the keys of the notes in the bucket of the owner's values, apart from the
// owner's by its zero byte. The rest is the event's id; the value is the era (4).
const UntruePrefix = "\x00untrue/"

// UntrueKey is the key of an event's note.
func UntrueKey(id string) []byte { return []byte(UntruePrefix + id) }

// SealEra is the note of an era.
func SealEra(era uint32) []byte { return SealOwned(binary.BigEndian.AppendUint32(nil, era)) }

// IsOfEra says whether a stored note is of that era. A damaged note is of none.
func IsOfEra(b []byte, era uint32) bool {
	b, err := ReadOwned(b)
	return err == nil && len(b) == 4 && binary.BigEndian.Uint32(b) == era
}

// KeyMissing is the key of what Trim gave up and the service has not been told of yet.
var KeyMissing = []byte("\x00missing")
