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
// asked, but of most the two times at hand decide; with thousands of segments that is some microseconds. Of several stills
// of one time, the one appended last counts, so the newest part comes first and another must be better.
func (s *series) find(op Op, t int64, active *segment) (best location, ok bool) {
	better := func(at int64) bool {
		switch {
		case !ok:
			return true
		case op == AtOrAfter || op == After:
			return at < best.time
		}
		return at > best.time
	}
	if s.tail != nil {
		if n := pick(s.tail.times, op, t); n >= 0 {
			best, ok = location{active, s.tail.offsets[n], s.tail.times[n]}, true
		}
	}
	from, place := -1, -1
	for i := len(s.parts) - 1; i >= 0; i-- {
		p := &s.parts[i]
		n := p.pick(op, t, better)
		if n < 0 {
			continue
		}
		if at := p.at(n); better(at) {
			best.time, ok = at, true
			from, place = i, n
		}
	}
	if from >= 0 {
		p := &s.parts[from]
		best.seg, best.offset = p.seg, p.seg.offsets[int(p.lo)+place]
	}
	return best, ok
}

// at is the time of the n-th still; that of the first and the last one are at hand.
func (p *part) at(n int) int64 {
	switch n {
	case 0:
		return p.min
	case int(p.hi-p.lo) - 1:
		return p.max
	}
	return p.times()[n]
}

// pick is the index of the still that op and t mean, or -1 if there is none or none that can be better.
func (p *part) pick(op Op, t int64, better func(int64) bool) int {
	n := int(p.hi - p.lo)
	switch op {
	case Before, AtOrBefore:
		if p.min > t || op == Before && p.min == t || !better(p.max) {
			return -1
		}
		if p.max < t {
			return n - 1
		}
	case AtOrAfter, After:
		if p.max < t || op == After && p.max == t || !better(p.min) {
			return -1
		}
		if p.min > t {
			return 0
		}
	default:
		if t < p.min || t > p.max {
			return -1
		}
	}
	return pick(p.times(), op, t)
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
