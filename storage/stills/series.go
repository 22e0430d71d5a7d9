package stills

import (
	"slices"
	"sort"
)

// series is all stills of one camera and kind. The ring's mu guards it.
type series struct {
	parts []part   // of full segments, in the order of the segments
	tail  *entries // of the segment being written; nil if it has none
	// prunedTo is the time of the newest still that was dropped, if pruned.
	pruned   bool
	prunedTo int64
}

// part is a full segment's stills of a series: seg.times[lo:hi], sorted, never empty.
type part struct {
	seg      *segment
	lo, hi   uint32
	min, max int64
}

func (p part) times() []int64 { return p.seg.times[p.lo:p.hi] }

// location is where a still is.
type location struct {
	seg    *segment
	offset uint32
	time   int64
}

// find is the place of the still that op and t mean. Segments may overlap in time after a clock step, so every part is
// asked; with thousands of segments that is some microseconds. Of several stills of one time, the one appended last counts.
func (s *series) find(op Op, t int64, active *segment) (best location, ok bool) {
	better := func(at int64) bool {
		switch op {
		case Before, AtOrBefore, At:
			return !ok || at >= best.time
		default:
			return !ok || at <= best.time
		}
	}
	for i := range s.parts {
		p := &s.parts[i]
		if !p.mayHold(op, t) {
			continue
		}
		times := p.times()
		if n := pick(times, op, t); n >= 0 && better(times[n]) {
			best, ok = location{p.seg, p.seg.offsets[p.lo:][n], times[n]}, true
		}
	}
	if s.tail != nil {
		if n := pick(s.tail.times, op, t); n >= 0 && better(s.tail.times[n]) {
			best, ok = location{active, s.tail.offsets[n], s.tail.times[n]}, true
		}
	}
	return best, ok
}

// mayHold spares the search in a part that holds nothing in the direction of op.
func (p *part) mayHold(op Op, t int64) bool {
	switch op {
	case Before:
		return p.min < t
	case AtOrBefore:
		return p.min <= t
	case AtOrAfter:
		return p.max >= t
	case After:
		return p.max > t
	}
	return p.min <= t && t <= p.max
}

// pick is the index in sorted times that op and t mean, or -1.
func pick(times []int64, op Op, t int64) int {
	n := len(times)
	if n == 0 {
		return -1
	}
	switch op {
	case Before:
		if times[n-1] < t {
			return n - 1
		}
		return sort.Search(n, func(i int) bool { return times[i] >= t }) - 1
	case AtOrBefore:
		if times[n-1] <= t {
			return n - 1
		}
		return sort.Search(n, func(i int) bool { return times[i] > t }) - 1
	case At:
		if i, found := slices.BinarySearch(times, t); found {
			return i
		}
		return -1
	case AtOrAfter:
		if i := sort.Search(n, func(i int) bool { return times[i] >= t }); i < n {
			return i
		}
		return -1
	case After:
		if i := sort.Search(n, func(i int) bool { return times[i] > t }); i < n {
			return i
		}
	}
	return -1
}

// forget takes a damaged still out.
func (s *series) forget(l location, active *segment) {
	if l.seg == active && s.tail != nil {
		if i, found := slices.BinarySearch(s.tail.times, l.time); found && s.tail.offsets[i] == l.offset {
			s.tail.times = slices.Delete(s.tail.times, i, i+1)
			s.tail.offsets = slices.Delete(s.tail.offsets, i, i+1)
		}
		return
	}
	for n := range s.parts {
		p := &s.parts[n]
		if p.seg != l.seg {
			continue
		}
		times, offsets := p.times(), p.seg.offsets[p.lo:p.hi]
		i, found := slices.BinarySearch(times, l.time)
		if !found || offsets[i] != l.offset {
			return
		}
		copy(times[i:], times[i+1:])
		copy(offsets[i:], offsets[i+1:])
		if p.hi--; p.lo == p.hi {
			s.parts = slices.Delete(s.parts, n, n+1)
			return
		}
		times = p.times()
		p.min, p.max = times[0], times[len(times)-1]
		return
	}
}

// bounds are the oldest and the newest still's times.
func (s *series) bounds() (oldest, newest int64, ok bool) {
	take := func(lo, hi int64) {
		if !ok {
			oldest, newest, ok = lo, hi, true
		}
		oldest, newest = min(oldest, lo), max(newest, hi)
	}
	for i := range s.parts {
		take(s.parts[i].min, s.parts[i].max)
	}
	if s.tail != nil && len(s.tail.times) > 0 {
		take(s.tail.times[0], s.tail.times[len(s.tail.times)-1])
	}
	return oldest, newest, ok
}

// install gives a full segment's index to the series. Tails that are x's are given up.
func (r *Ring) installLocked(seg *segment, x *index) {
	seg.times, seg.offsets = make([]int64, 0, x.stills), make([]uint32, 0, x.stills)
	for _, k := range x.keys() {
		e := x.series[k]
		s := r.seriesLocked(k)
		if s.tail == e {
			s.tail = nil
		}
		n := len(e.times)
		if n == 0 {
			continue
		}
		lo := uint32(len(seg.times))
		seg.times, seg.offsets = append(seg.times, e.times...), append(seg.offsets, e.offsets...)
		s.parts = append(s.parts, part{seg, lo, lo + uint32(n), e.times[0], e.times[n-1]})
	}
}

func (r *Ring) seriesLocked(k seriesKey) *series {
	s := r.series[k]
	if s == nil {
		s = &series{}
		r.series[k] = s
	}
	return s
}
