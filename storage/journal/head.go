package journal

import (
	"encoding/binary"
	"fmt"

	"vmsbridge/uplink/vms"
)

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

// decodeHead checks a stored event and reads its head only.
func decodeHead(b []byte) (head, error) {
	rest, err := verified(tagEvent, b)
	if err != nil {
		return head{}, err
	}
	h, _, err := parseHead(rest)
	return h, err
}
