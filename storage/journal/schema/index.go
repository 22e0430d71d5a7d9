package schema

import (
	"encoding/binary"
	"slices"
)

// Listing is one key and value of an index bucket.
type Listing struct{ Bucket, Key, Value []byte }

// Listings are the three places where an event is listed. Each is a group (who and what, and how
// long), within which the events stand in the order of every list.
func (h Head) Listings(id string) [3]Listing {
	place, end := append(MSKey(h.Start), id...), MSKey(h.End)
	class := lengthClass(h.Start, h.End)
	return [3]Listing{
		{ByTime, append([]byte{class}, place...), end},
		{ByActor, slices.Concat(ActorPrefix(h.Actor), TypePrefix(h.Type), []byte{class}, place), end},
		{ByType, slices.Concat(TypePrefix(h.Type), []byte{class}, place), end},
	}
}

// GroupNames is how many names stand before the class in an index's keys.
func GroupNames(bucket []byte) int {
	switch string(bucket) {
	case string(ByActor):
		return 3
	case string(ByType):
		return 1
	}
	return 0
}

// GroupLen is how many bytes of an index's key are the group: the names and the class. 0 says that
// the key is damaged.
func GroupLen(key []byte, names int) int {
	n := 0
	for range names {
		if len(key)-n < 2 {
			return 0
		}
		n += 2 + int(binary.BigEndian.Uint16(key[n:]))
	}
	if n++; len(key) < n+8 || key[n-1] > ClassOngoing {
		return 0
	}
	return n
}
