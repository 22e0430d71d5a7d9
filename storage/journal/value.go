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

// Every value but those of the indexes begins with a tag: which bucket it is of and the version of its form. The tag lets a recovery tell what
// a stray page held.
const (
	tagEvent  = 0x11
	tagEntry  = 0x21
	tagParked = 0x31
	tagMeta   = 0x41 // the owner's bytes, not JSON
	tagChange = 0x51
)

// valueHead is the tag and the CRC-32C of all that follows it.
const valueHead = 1 + 4

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

// head is what the indexes say of an event. It is stored before the JSON, so that the indexes can be kept and verified
// without reading that.
type head struct {
	sequence   uint64 // the event's latest place in the outbox; 0 if it never was to be reported
	start, end int64  // milliseconds; endOngoing
	kind       string // the event's type
	actor      vms.Actor
}

func headOf(ev vms.Event) head {
	return head{start: ev.StartTimestamp.UnixMilli(), end: endMS(ev), kind: ev.Type, actor: vms.Actor{Type: ev.ActorType, ID: ev.ActorID}}
}

func (h head) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, h.sequence)
	b = append(append(b, msKey(h.start)...), msKey(h.end)...)
	b = append(b, typePrefix(h.kind)...)
	return append(b, actorPrefix(h.actor)...)
}

// parseHead splits an event's value, without valueHead, into the head and the JSON.
func parseHead(b []byte) (h head, body []byte, err error) {
	if len(b) < 24 {
		return head{}, nil, fmt.Errorf("%w: it is cut off", errDamagedValue)
	}
	h = head{sequence: binary.BigEndian.Uint64(b), start: keyMS(b[8:]), end: keyMS(b[16:])}
	b = b[24:]
	for _, field := range []*string{&h.kind, &h.actor.Type, &h.actor.ID} {
		if len(b) < 2 || len(b)-2 < int(binary.BigEndian.Uint16(b)) {
			return head{}, nil, fmt.Errorf("%w: it is cut off", errDamagedValue)
		}
		n := int(binary.BigEndian.Uint16(b))
		*field, b = string(b[2:2+n]), b[2+n:]
	}
	return h, b, nil
}

// seal makes a stored value: the tag, the checksum, whatever prefix holds, and v as JSON.
func seal(tag byte, prefix []byte, v any) ([]byte, error) {
	buf := bytes.NewBuffer(make([]byte, valueHead, 1024))
	buf.Write(prefix)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	b := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	b[0] = tag
	return resum(b), nil
}

// resum sets the checksum of a value.
func resum(b []byte) []byte {
	binary.BigEndian.PutUint32(b[1:], crc32.Checksum(b[valueHead:], castagnoli))
	return b
}

// verified checks a stored value's tag and checksum, and returns what follows them.
func verified(tag byte, b []byte) ([]byte, error) {
	switch {
	case len(b) < valueHead:
		return nil, fmt.Errorf("%w: %d bytes", errDamagedValue, len(b))
	case b[0] != tag:
		return nil, fmt.Errorf("%w: tag %#x, want %#x", errDamagedValue, b[0], tag)
	case crc32.Checksum(b[valueHead:], castagnoli) != binary.BigEndian.Uint32(b[1:]):
		return nil, fmt.Errorf("%w: checksum differs", errDamagedValue)
	}
	return b[valueHead:], nil
}

// unseal checks a stored value without a head and decodes it into v. It keeps nothing of b.
func unseal(tag byte, b []byte, v any) error {
	body, err := verified(tag, b)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%w: %w", errDamagedValue, err)
	}
	return nil
}

func sealEvent(ev vms.Event, sequence uint64) ([]byte, error) {
	h := headOf(ev)
	h.sequence = sequence
	return seal(tagEvent, h.append(nil), ev)
}

// decodeHead checks a stored event and reads its head only.
func decodeHead(b []byte) (head, error) {
	rest, err := verified(tagEvent, b)
	if err != nil {
		return head{}, err
	}
	h, _, err := parseHead(rest)
	return h, err
}

// decodeEvent reads the event stored under a key. A nil id takes the value's word for it.
func decodeEvent(id, b []byte) (ev vms.Event, h head, err error) {
	rest, err := verified(tagEvent, b)
	if err != nil {
		return vms.Event{}, head{}, err
	}
	h, body, err := parseHead(rest)
	if err != nil {
		return vms.Event{}, head{}, err
	}
	if err := json.Unmarshal(body, &ev); err != nil {
		return vms.Event{}, head{}, fmt.Errorf("%w: %w", errDamagedValue, err)
	}
	if id != nil && ev.ID != string(id) {
		return vms.Event{}, head{}, fmt.Errorf("%w: it is of event %q", errDamagedValue, ev.ID)
	}
	if want := headOf(ev); h.start != want.start || h.end != want.end || h.kind != want.kind || h.actor != want.actor {
		return vms.Event{}, head{}, fmt.Errorf("%w: head and body differ", errDamagedValue)
	}
	return ev, h, nil
}

// withSequence is a copy of a stored event with another sequence.
func withSequence(b []byte, sequence uint64) []byte {
	b = bytes.Clone(b)
	binary.BigEndian.PutUint64(b[valueHead:], sequence)
	return resum(b)
}
