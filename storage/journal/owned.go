package journal

import (
	"encoding/binary"
	"encoding/json"
)

// The bucket of the owner's values holds some of the journal's own beside those, under keys that begin with a zero byte.

// sealOwned makes a stored value of bytes.
func sealOwned(b []byte) []byte { return resum(append([]byte{tagMeta, 0, 0, 0, 0}, b...)) }

// readOwned checks a stored value and returns the bytes, which belong to it.
func readOwned(b []byte) ([]byte, error) { return verified(tagMeta, b) }

// cursorPrefix begins the keys of cursors in the bucket of the owner's values, apart from the owner's by its zero byte.
const cursorPrefix = "\x00cursor/"

// cursorValue is what the file says of a cursor.
type cursorValue struct {
	Place   uint64 `json:"place"`             // everything up to it was dealt with
	Skipped uint64 `json:"skipped,omitempty"` // changes that Trim gave up
}

func cursorKey(name string) []byte { return []byte(cursorPrefix + name) }

func (v cursorValue) seal() ([]byte, error) {
	raw, err := json.Marshal(v)
	return sealOwned(raw), err
}

// read takes a stored cursor.
func (v *cursorValue) read(b []byte) error {
	raw, err := readOwned(b)
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	return err
}

// provisionalPrefix begins the keys of the notes in the bucket of the owner's values, apart from the owner's by its zero byte. The
// rest is the event's id; the value is the era (4).
const provisionalPrefix = "\x00untrue/"

func provisionalKey(id string) []byte { return []byte(provisionalPrefix + id) }

func sealEra(era uint32) []byte { return sealOwned(binary.BigEndian.AppendUint32(nil, era)) }

// isOfEra says whether a stored note is of that era. A damaged note is of none.
func isOfEra(b []byte, era uint32) bool {
	b, err := readOwned(b)
	return err == nil && len(b) == 4 && binary.BigEndian.Uint32(b) == era
}

// keyMissing is in the bucket of the owner's values, apart from the owner's by its zero byte.
var keyMissing = []byte("\x00missing")
