package segment

import (
	"slices"
	"sort"
)

// Entry is a still in an index.
type Entry struct {
	Time  int64  // with the shift in it, but for what Encode and Decode are given
	Place uint32 // of the record in the segment
	Size  uint32 // of the JPEG
}

// Entries are the stills of one series in a segment, sorted by time, each time once.
type Entries struct{ List []Entry }

// insert takes an entry; one of the same time is replaced.
func (e *Entries) insert(n Entry) (added bool) {
	i, found := len(e.List), false
	if i > 0 && e.List[i-1].Time >= n.Time {
		i, found = Search(e.List, n.Time)
	}
	if found {
		e.List[i] = n
		return false
	}
	e.List = slices.Insert(e.List, i, n)
	return true
}

// Search is the place of a time in a sorted list, or where it would be.
func Search(list []Entry, t int64) (int, bool) {
	i := sort.Search(len(list), func(i int) bool { return list[i].Time >= t })
	return i, i < len(list) && list[i].Time == t
}
