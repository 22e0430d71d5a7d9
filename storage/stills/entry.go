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

// pick is the index in a sorted list that op and t mean, or -1.
func pick(list []entry, op Op, t int64) int {
	n := len(list)
	if n == 0 {
		return -1
	}
	// The first entry that is not before t; that is behind it.
	at, behind := n, n
	if op == AtOrBefore || op == After {
		if list[n-1].time > t {
			behind = sort.Search(n, func(i int) bool { return list[i].time > t })
		}
	} else if list[n-1].time >= t {
		at = sort.Search(n, func(i int) bool { return list[i].time >= t })
	}
	i := -1
	switch op {
	case Before:
		i = at - 1
	case AtOrBefore:
		i = behind - 1
	case At:
		if at < n && list[at].time == t {
			i = at
		}
	case AtOrAfter:
		i = at
	case After:
		i = behind
	}
	if i >= n {
		return -1
	}
	return i
}
