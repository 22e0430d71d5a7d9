package schema

import (
	"encoding/binary"
	"math"
	"time"

	"vmsbridge/uplink/vms"
)

// The buckets. format.md describes their keys and values.
var (
	Events   = []byte("events")    // id → event
	ByTime   = []byte("by-time")   // class, place → end
	ByActor  = []byte("by-actor")  // actor, type, class, place → end
	ByType   = []byte("by-type")   // type, class, place → end
	Ongoing  = []byte("ongoing")   // id → last known activity
	Outbox   = []byte("outbox")    // sequence → entry
	OutboxID = []byte("outbox-id") // id → sequence
	Parked   = []byte("parked")    // id → parked entry
	// the owner's key → the owner's bytes; after a zero byte the journal's own (owned.go)
	Meta   = []byte("meta")
	Format = []byte("format") // version, clean, count, low

	Changes   = []byte("changes")    // place → entry of the sequence of changes
	ChangesID = []byte("changes-id") // id → its places in it
)

// Buckets are all of them; a record of the log names each by its place here.
var Buckets = [][]byte{
	Events, ByTime, ByActor, ByType, Ongoing,
	Outbox, OutboxID, Parked, Meta, Format, Changes, ChangesID,
}

// Derived are the buckets that follow from others.
var Derived = [][]byte{ByTime, ByActor, ByType, OutboxID, ChangesID}

// EndOngoing is the end that the indexes hold for an event that has not ended. No event ends at
// that millisecond: it lies beyond the year 9999.
const EndOngoing = math.MaxInt64

// MSKey is a time in milliseconds since 1970 as eight bytes that sort as the times do, also before
// 1970.
func MSKey(ms int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(ms)^(1<<63))
}

// KeyMS is the time of MSKey's bytes, of which there must be eight at least.
func KeyMS(b []byte) int64 { return int64(binary.BigEndian.Uint64(b) ^ (1 << 63)) }

// Place is where an event stands in the order of every list: its start, then its id.
func Place(start vms.Time, id string) []byte { return append(MSKey(start.UnixMilli()), id...) }

// ActorPrefix is what the keys of an actor begin with. It carries lengths, so that no id, whatever
// its bytes, is the beginning of another's range.
func ActorPrefix(a vms.Actor) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(a.Type)))
	b = append(b, a.Type...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(a.ID)))
	return append(b, a.ID...)
}

// TypePrefix is the same of a type.
func TypePrefix(t string) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(t))), t...)
}

// SequenceKey is a place in the outbox or in the sequence of changes as bytes that sort as the
// places do.
func SequenceKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// endMS is the event's end for the indexes.
func endMS(ev vms.Event) int64 {
	if ev.EndTimestamp == nil {
		return EndOngoing
	}
	return ev.EndTimestamp.UnixMilli()
}

// MSTime is the time of milliseconds since 1970, in UTC.
func MSTime(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
