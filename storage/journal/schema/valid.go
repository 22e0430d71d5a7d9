package schema

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"vmsbridge/uplink/vms"
)

// ErrInvalid says that an event can never be stored as it is.
var ErrInvalid = errors.New("invalid event")

// Limits of what can be stored, in bytes.
const (
	maxIDBytes    = 4096
	MaxNameBytes  = 1024 // of a type, an actor type, an actor id
	maxEventBytes = 1 << 20
)

// Checked refuses what could not be stored and found again, and cuts the times to milliseconds.
func Checked(ev vms.Event) (vms.Event, error) {
	for _, f := range []struct {
		name, value string
		max         int
		required    bool
	}{
		{"id", ev.ID, maxIDBytes, true},
		{"type", ev.Type, MaxNameBytes, true},
		{"actorId", ev.ActorID, MaxNameBytes, true},
		{"actorType", ev.ActorType, MaxNameBytes, false},
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
			return ev, fmt.Errorf("%w: it ends at %s, before its start at %s", ErrInvalid, ev.EndTimestamp,
				ev.StartTimestamp)
		}
	}
	for _, t := range []*vms.Time{&ev.StartTimestamp, ev.EndTimestamp} {
		if t != nil && (t.Year() < 1 || t.Year() > 9999) {
			return ev, fmt.Errorf("%w: the year %d cannot be written", ErrInvalid, t.Year())
		}
	}
	return ev, nil
}
