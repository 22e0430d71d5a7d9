package stills

import (
	"fmt"
	"slices"
	"time"

	"vmsbridge/storage/stills/segment"
)

const (
	// flushed is how long after a still was taken it is on the device, at the latest, with some to
	// spare.
	flushed = 30 * time.Second
	// written is how long after a segment was full its index is on the device, at the latest: it
	// is not flushed, for it can be made anew.
	written = 2 * time.Minute
)

// asides is the folder, in the ring's, of what Repair took out of the way.
const asides = "aside"

// present is what judge needs to know of a segment.
type present struct {
	numbers        [2]uint64 // of its file's name, and what it says; 0: it does not say
	oldest, newest int64     // of its stills; 0: there are none
	doubts         []Problem
	index          bool // the doubts are of the index
}

// doubt notes what may be a power cut's, or damage: that depends on the others.
func (p *present) doubt(path string, offset int64, format string, args ...any) {
	p.doubts = append(p.doubts, Problem{path, offset, fmt.Sprintf(format, args...)})
}

// judge says which doubts are a power cut's: those of segments behind which no still is newer by
// more than what is flushed at once. The segment's own span counts too: its first seconds were
// flushed when the last were taken.
func (r *Report) judge(list []present) {
	for i, p := range list {
		if len(p.doubts) == 0 {
			continue
		}
		var from, to int64
		for j, other := range list {
			if j < i {
				from = max(from, other.newest)
			} else {
				to = max(to, other.newest)
			}
		}
		if from == 0 {
			from = p.oldest
		}
		limit := flushed
		if p.index {
			limit = written
		}
		if to != 0 && from != 0 && to-from > int64(limit) {
			r.Problems = append(r.Problems, p.doubts...)
			continue
		}
		for _, d := range p.doubts {
			d.What = "cut off by a power cut: " + d.What
			r.Torn = append(r.Torn, d)
		}
	}
}

// missed is the numbers of the segments that a manifest names, that are not there, under their
// names or by what they say, and that were not dropped.
func missed(m segment.Manifest, there, dropped []uint64) (numbers []uint64) {
	known := map[uint64]bool{}
	for _, n := range slices.Concat(there, dropped, m.Lost) {
		known[n] = true
	}
	for _, n := range m.Segments {
		if !known[n] {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// cutOff says whether what is bad in a segment that is being written is a power cut's: near its
// end, in time.
func cutOff(s segment.Scan, found *segment.Draft) bool {
	if len(s.Bad) == 0 {
		return false
	}
	var before, after, first int64 // times of stills before the first bad place, and behind it
	for _, e := range found.Series {
		for _, n := range e.List {
			switch {
			case n.Place < s.Bad[0].From:
				before = max(before, n.Time)
			case after == 0:
				after, first = n.Time, n.Time
			default:
				after, first = max(after, n.Time), min(first, n.Time)
			}
		}
	}
	if before == 0 {
		before = first
	}
	return after == 0 || after-before <= int64(flushed)
}

// extent is the times of the oldest and the newest still, 0 if there are none.
func extent(found *segment.Draft) (oldest, newest int64) {
	for _, e := range found.Series {
		for _, n := range e.List {
			if oldest == 0 || n.Time < oldest {
				oldest = n.Time
			}
			newest = max(newest, n.Time)
		}
	}
	return oldest, newest
}
