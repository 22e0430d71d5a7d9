package journal

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"vmsbridge/uplink/vms"
)

// The buckets. format.md describes their keys and values.
var (
	bucketEvents   = []byte("events")    // id → event
	bucketByTime   = []byte("by-time")   // class, place → end
	bucketByActor  = []byte("by-actor")  // actor, type, class, place → end
	bucketByType   = []byte("by-type")   // type, class, place → end
	bucketOngoing  = []byte("ongoing")   // id → last known activity
	bucketOutbox   = []byte("outbox")    // sequence → entry
	bucketOutboxID = []byte("outbox-id") // id → sequence
	bucketParked   = []byte("parked")    // id → parked entry
	bucketMeta     = []byte("meta")      // the owner's keys, each after "user/"
	bucketFormat   = []byte("format")    // version, clean, low

	bucketChanges   = []byte("changes")    // place → entry of the sequence of changes
	bucketChangesID = []byte("changes-id") // id → its places in it
)

// firstBuckets are in every file of this form; laterBuckets came later, and Open makes them in a file that lacks them.
var (
	firstBuckets = [][]byte{
		bucketEvents, bucketByTime, bucketByActor, bucketByType, bucketOngoing,
		bucketOutbox, bucketOutboxID, bucketParked, bucketMeta, bucketFormat,
	}
	laterBuckets = [][]byte{bucketChanges, bucketChangesID}
	allBuckets   = slices.Concat(firstBuckets, laterBuckets)
)

// endOngoing is the end that the indexes hold for an event that has not ended. No event ends at that millisecond: it lies
// beyond the year 9999.
const endOngoing = math.MaxInt64

// timeKey is t's millisecond since 1970 as eight bytes that sort as the times do, also before 1970.
func timeKey(t vms.Time) []byte { return msKey(t.UnixMilli()) }

func msKey(ms int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(ms)^(1<<63))
}

func keyMS(b []byte) int64 { return int64(binary.BigEndian.Uint64(b) ^ (1 << 63)) }

// place is where an event stands in the order of every list: its start, then its id.
func place(start vms.Time, id string) []byte { return append(timeKey(start), id...) }

// actorPrefix and typePrefix carry lengths, so that no id, whatever its bytes, is the beginning of another's range.
func actorPrefix(a vms.Actor) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(a.Type)))
	b = append(b, a.Type...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(a.ID)))
	return append(b, a.ID...)
}

func typePrefix(t string) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(t))), t...)
}

func sequenceKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// endMS is the event's end for the indexes.
func endMS(ev vms.Event) int64 {
	if ev.EndTimestamp == nil {
		return endOngoing
	}
	return ev.EndTimestamp.UnixMilli()
}

func msTime(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
