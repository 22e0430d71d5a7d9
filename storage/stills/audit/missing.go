package audit

import (
	"fmt"
	"path/filepath"
	"time"

	"vmsbridge/storage/stills/form"
	"vmsbridge/storage/stills/segment"
)

const (
	// flushed is how long after a still was taken it is on the device, at the latest, with some to
	// spare.
	flushed = 30 * time.Second
	// written is how long after a segment was full its index is on the device, at the latest: it is
	// not flushed, for it can be made anew.
	written = 2 * time.Minute
	// overlap is by how much the making of a segment and the end of the one before it may be apart.
	overlap = time.Minute
)

// Asides is the folder, in the ring's, of what Repair took out of the way.
const Asides = "aside"

// Marker is the path of a file that says that somebody knows that a segment is missing.
func Marker(dir string, number uint64) string {
	return filepath.Join(dir, Asides, fmt.Sprintf("missing-%012d", number))
}

// present is what missing needs to know of a segment.
type present struct {
	number          uint64
	lane            uint8
	created, sealed int64 // 0: not known
	oldest, newest  int64 // of its stills; 0: there are none
	doubts          []Problem
	index           bool // the doubts are of the index
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

// missing finds numbers that no segment has, of which it is sure that none was dropped. Segments go
// in the order of their numbers, but for those that are being written, and for loud ones, which may
// go before older quiet ones.
func missing(list []present) (numbers []uint64) {
	oldestLoud := uint64(0)
	for _, p := range list {
		if p.lane == form.Loud && oldestLoud == 0 {
			oldestLoud = p.number
		}
	}
	var created int64          // of the newest before the gap
	first := map[uint8]int64{} // lane → when its first segment was full
	for i, p := range list {
		if i > 0 {
			before := list[i-1]
			created = max(created, before.created)
			if at, ok := first[before.lane]; before.sealed != 0 && (!ok || before.sealed < at) {
				first[before.lane] = before.sealed
			}
			// A power cut may cost the name of a segment that was just made, and leave one that was
			// made right after it.
			if p.oldest != 0 && before.newest != 0 && p.oldest-before.newest <= int64(flushed) {
				continue
			}
			for n := before.number + 1; n < p.number && len(numbers) < maxMissing; n++ {
				full := func(lane uint8) bool {
					at, ok := first[lane]
					return ok && created != 0 && at <= created+int64(overlap)
				}
				if oldestLoud == 0 || full(form.Loud) || n > oldestLoud && full(form.Quiet) {
					numbers = append(numbers, n)
				}
			}
		}
	}
	return numbers
}

// maxMissing bounds what is said where the number of a segment is wrong.
const maxMissing = 1000

// cutOff says whether what is bad in a segment that is being written is a power cut's: near its
// end, in time.
func cutOff(s segment.Scan, found *form.Draft) bool {
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
func extent(found *form.Draft) (oldest, newest int64) {
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
