package schema

import (
	"encoding/binary"
	"fmt"

	"vmsbridge/uplink/vms"
)

// Head is what the indexes say of an event. It is stored before the JSON, so that the indexes can
// be kept and verified without reading that.
type Head struct {
	Sequence   uint64 // the event's latest place in the outbox; 0 if it never was to be reported
	Start, End int64  // milliseconds; EndOngoing
	Type       string // the event's type
	Actor      vms.Actor
}

// HeadOf is the head of an event that never was to be reported.
func HeadOf(ev vms.Event) Head {
	return Head{Start: ev.StartTimestamp.UnixMilli(), End: endMS(ev), Type: ev.Type,
		Actor: vms.Actor{Type: ev.ActorType, ID: ev.ActorID}}
}

func (h Head) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, h.Sequence)
	b = append(append(b, MSKey(h.Start)...), MSKey(h.End)...)
	b = append(b, TypePrefix(h.Type)...)
	return append(b, ActorPrefix(h.Actor)...)
}

// parseHead splits an event's value, without valueHead, into the head and the JSON.
func parseHead(b []byte) (h Head, body []byte, err error) {
	if len(b) < 24 {
		return Head{}, nil, fmt.Errorf("%w: it is cut off", ErrDamaged)
	}
	h = Head{Sequence: binary.BigEndian.Uint64(b), Start: KeyMS(b[8:]), End: KeyMS(b[16:])}
	b = b[24:]
	for _, field := range []*string{&h.Type, &h.Actor.Type, &h.Actor.ID} {
		if len(b) < 2 || len(b)-2 < int(binary.BigEndian.Uint16(b)) {
			return Head{}, nil, fmt.Errorf("%w: it is cut off", ErrDamaged)
		}
		n := int(binary.BigEndian.Uint16(b))
		*field, b = string(b[2:2+n]), b[2+n:]
	}
	return h, b, nil
}

// ReadHead checks a stored event and reads its head only.
func ReadHead(b []byte) (Head, error) {
	rest, err := verified(tagEvent, b)
	if err != nil {
		return Head{}, err
	}
	h, _, err := parseHead(rest)
	return h, err
}
