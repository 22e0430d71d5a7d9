package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"vmsbridge/uplink/vms"
)

// Every JSON value begins with a tag: which bucket it is of and the version of its form. The tag lets a recovery tell what
// a stray page held.
const (
	tagEvent  = 0x11
	tagEntry  = 0x21
	tagParked = 0x31
)

// valueHead is the tag, the CRC-32C of all that follows it, and the sequence (events only; else 0).
const valueHead = 1 + 4 + 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errDamagedValue says that a value's checksum or form is wrong.
var errDamagedValue = errors.New("stored value is damaged")

// entryValue is what the outbox stores beside the event.
type entryValue struct {
	ID       string    `json:"id"`
	ActorID  string    `json:"actor"`
	Revision uint64    `json:"rev"`
	Since    time.Time `json:"since"`
}

// parkedValue is what a parked entry keeps.
type parkedValue struct {
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
	Since  time.Time `json:"since"`
	Tries  int       `json:"tries,omitempty"`
}

// seal makes a stored value of v.
func seal(tag byte, sequence uint64, v any) ([]byte, error) {
	buf := bytes.NewBuffer(make([]byte, valueHead, 1024))
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	b := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	b[0] = tag
	binary.BigEndian.PutUint64(b[5:], sequence)
	binary.BigEndian.PutUint32(b[1:], crc32.Checksum(b[5:], castagnoli))
	return b, nil
}

// unseal checks a stored value and decodes it into v, unless v is nil. It keeps nothing of b.
func unseal(tag byte, b []byte, v any) (sequence uint64, err error) {
	if len(b) < valueHead {
		return 0, fmt.Errorf("%w: %d bytes", errDamagedValue, len(b))
	}
	if b[0] != tag {
		return 0, fmt.Errorf("%w: tag %#x, want %#x", errDamagedValue, b[0], tag)
	}
	if sum := crc32.Checksum(b[5:], castagnoli); sum != binary.BigEndian.Uint32(b[1:]) {
		return 0, fmt.Errorf("%w: checksum differs", errDamagedValue)
	}
	if v != nil {
		if err := json.Unmarshal(b[valueHead:], v); err != nil {
			return 0, fmt.Errorf("%w: %w", errDamagedValue, err)
		}
	}
	return binary.BigEndian.Uint64(b[5:]), nil
}

// decodeEvent reads a stored event. The id comes from the key.
func decodeEvent(id, b []byte) (ev vms.Event, sequence uint64, err error) {
	sequence, err = unseal(tagEvent, b, &ev)
	if err != nil {
		return vms.Event{}, 0, err
	}
	ev.ID = string(id)
	return ev, sequence, nil
}

// resum sets the checksum of a sealed value that was changed.
func resum(b []byte) []byte {
	binary.BigEndian.PutUint32(b[1:], crc32.Checksum(b[5:], castagnoli))
	return b
}
