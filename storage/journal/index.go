package journal

import (
	"encoding/binary"
	"slices"
)

// indexEntry is one key and value of an index bucket.
type indexEntry struct{ bucket, key, value []byte }

// indexEntries are the three places where an event is listed. Each is a group (who and what, and how long), within which
// the events stand in the order of every list.
func (h head) indexEntries(id string) [3]indexEntry {
	place, end := append(msKey(h.start), id...), msKey(h.end)
	class := lengthClass(h.start, h.end)
	return [3]indexEntry{
		{bucketByTime, append([]byte{class}, place...), end},
		{bucketByActor, slices.Concat(actorPrefix(h.actor), typePrefix(h.kind), []byte{class}, place), end},
		{bucketByType, slices.Concat(typePrefix(h.kind), []byte{class}, place), end},
	}
}

// groupNames is how many names stand before the class in an index's keys.
func groupNames(bucket []byte) int {
	switch string(bucket) {
	case string(bucketByActor):
		return 3
	case string(bucketByType):
		return 1
	}
	return 0
}

// groupLen is how many bytes of an index's key are the group: the names and the class. 0 says that the key is damaged.
func groupLen(key []byte, names int) int {
	n := 0
	for range names {
		if len(key)-n < 2 {
			return 0
		}
		n += 2 + int(binary.BigEndian.Uint16(key[n:]))
	}
	if n++; len(key) < n+8 || key[n-1] > classOngoing {
		return 0
	}
	return n
}
