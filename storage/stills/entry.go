package stills

import (
	"slices"
	"sort"
)

// entry is a still in an index. Those of full segments are packed: see part.go.
type entry struct {
	time  int64
	place uint32 // of the record in the segment
	size  uint32 // of the JPEG; 0: not known, for the index is of version 1, or the JPEG is too large to be packed
}

// entries are the stills of one series in a segment that is being written, sorted by time, each time once.
type entries struct{ list []entry }

// insert takes an entry; one of the same time is replaced.
func (e *entries) insert(n entry) (added bool) {
	i, found := len(e.list), false
	if i > 0 && e.list[i-1].time >= n.time {
		i, found = search(e.list, n.time)
	}
	if found {
		e.list[i] = n
		return false
	}
	e.list = slices.Insert(e.list, i, n)
	return true
}

// search is the place of a time in a sorted list, or where it would be.
func search(list []entry, t int64) (int, bool) {
	i := sort.Search(len(list), func(i int) bool { return list[i].time >= t })
	return i, i < len(list) && list[i].time == t
}
