package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"vmsbridge/uplink/vms"
)

// ErrInvalid is wrapped by Put's error for an event that can never be stored as it is.
var ErrInvalid = errors.New("invalid event")

// Limits of what Put accepts, in bytes.
const (
	maxIDBytes    = 4096
	maxNameBytes  = 1024 // type, actor type, actor id
	maxEventBytes = 1 << 20
)

// sealChecked encodes an event that may be stored; it happens beside other callers, and only the sequence is filled in later.
func sealChecked(ev vms.Event) (vms.Event, []byte, error) {
	ev, err := checked(ev)
	if err != nil {
		return ev, nil, err
	}
	body, err := sealEvent(ev, 0)
	if err != nil {
		return ev, nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if len(body) > maxEventBytes {
		return ev, nil, fmt.Errorf("%w: %d bytes are more than %d", ErrInvalid, len(body), maxEventBytes)
	}
	return ev, body, nil
}

// checked refuses what could not be stored and found again, and cuts the times to milliseconds.
func checked(ev vms.Event) (vms.Event, error) {
	for _, f := range []struct {
		name, value string
		max         int
		required    bool
	}{
		{"id", ev.ID, maxIDBytes, true},
		{"type", ev.Type, maxNameBytes, true},
		{"actorId", ev.ActorID, maxNameBytes, true},
		{"actorType", ev.ActorType, maxNameBytes, false},
	} {
		switch {
		case f.required && f.value == "":
			return ev, fmt.Errorf("%w: it has no %s", ErrInvalid, f.name)
		case len(f.value) > f.max:
			return ev, fmt.Errorf("%w: %s has %d bytes, more than %d", ErrInvalid, f.name, len(f.value), f.max)
		case !utf8.ValidString(f.value):
			return ev, fmt.Errorf("%w: %s is not UTF-8", ErrInvalid, f.name)
		}
	}
	if ev.StartTimestamp.IsZero() {
		return ev, fmt.Errorf("%w: it has no startTimestamp", ErrInvalid)
	}
	ev.StartTimestamp = vms.At(ev.StartTimestamp.Time)
	if ev.EndTimestamp != nil {
		ev.EndTimestamp = vms.Ptr(ev.EndTimestamp.Time)
		if ev.EndTimestamp.Before(ev.StartTimestamp.Time) {
			return ev, fmt.Errorf("%w: it ends at %s, before its start at %s", ErrInvalid, ev.EndTimestamp, ev.StartTimestamp)
		}
	}
	for _, t := range []*vms.Time{&ev.StartTimestamp, ev.EndTimestamp} {
		if t != nil && (t.Year() < 1 || t.Year() > 9999) {
			return ev, fmt.Errorf("%w: the year %d cannot be written", ErrInvalid, t.Year())
		}
	}
	return ev, nil
}

func sealEvent(ev vms.Event, sequence uint64) ([]byte, error) {
	h := headOf(ev)
	h.sequence = sequence
	return seal(tagEvent, h.append(nil), ev)
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
