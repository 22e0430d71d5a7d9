package schema

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"vmsbridge/uplink/vms"
)

// SealChecked is an event as it is stored, with the value to store, which has no sequence yet: see
// WithSequence. What cannot be stored gives ErrInvalid.
func SealChecked(ev vms.Event) (vms.Event, []byte, error) {
	ev, err := Checked(ev)
	if err != nil {
		return ev, nil, err
	}
	body, err := SealEvent(ev, 0)
	if err != nil {
		return ev, nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if len(body) > maxEventBytes {
		return ev, nil, fmt.Errorf("%w: %d bytes are more than %d", ErrInvalid, len(body), maxEventBytes)
	}
	return ev, body, nil
}

// stored is an event with what the wire does not show.
type stored struct {
	vms.Event
	Owner string `json:"owner,omitempty"`
}

// OwnerOf is the owner of a stored event, "" if it has none or is damaged.
func OwnerOf(b []byte) string {
	var s struct {
		Owner string `json:"owner"`
	}
	if rest, err := verified(tagEvent, b); err == nil {
		if _, body, err := parseHead(rest); err == nil {
			_ = json.Unmarshal(body, &s) // what is damaged has no owner
		}
	}
	return s.Owner
}

// SealEvent is the value to store of an event. sequence is its latest place in the outbox.
func SealEvent(ev vms.Event, sequence uint64) ([]byte, error) {
	h := HeadOf(ev)
	h.Sequence = sequence
	return seal(tagEvent, h.append(nil), stored{ev, ev.Owner})
}

// ReadEvent reads the event stored under a key. A nil id takes the value's word for it.
func ReadEvent(id, b []byte) (ev vms.Event, h Head, err error) {
	rest, err := verified(tagEvent, b)
	if err != nil {
		return vms.Event{}, Head{}, err
	}
	h, body, err := parseHead(rest)
	if err != nil {
		return vms.Event{}, Head{}, err
	}
	var s stored
	if err := json.Unmarshal(body, &s); err != nil {
		return vms.Event{}, Head{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	ev = s.Event
	ev.Owner = s.Owner
	if id != nil && ev.ID != string(id) {
		return vms.Event{}, Head{}, fmt.Errorf("%w: it is of event %q", ErrDamaged, ev.ID)
	}
	if want := HeadOf(ev); h.Start != want.Start || h.End != want.End || h.Type != want.Type || h.Actor != want.Actor {
		return vms.Event{}, Head{}, fmt.Errorf("%w: head and body differ", ErrDamaged)
	}
	return ev, h, nil
}

// WithSequence is a copy of a stored event with another sequence.
func WithSequence(b []byte, sequence uint64) []byte {
	b = bytes.Clone(b)
	binary.BigEndian.PutUint64(b[valueHead:], sequence)
	return resum(b)
}
