package stills

import (
	"cmp"
	"slices"
	"sort"

	"vmsbridge/storage/stills/segment"
)

// series is all stills of one camera and kind. The index' mu guards it.
type series struct {
	parts []part // in the order of the segments' numbers
	mixed bool   // not every part begins after the one before it ended: the clock stepped, or both lanes have some
	// prunedTo is the time of the newest still that was dropped, if pruned.
	pruned   bool
	prunedTo int64
}

// part is a segment's stills of a series, never none. Those of a segment that is being written are
// its draft's own.
type part struct {
	seg *member
	*segment.Entries
	min, max int64 // times of the first and the last still
}

// location is where a still is.
type location struct {
	Seg *member
	segment.Entry
	Shift int64 // of its segment, when it was located
}

// put takes what a segment has of the series, in place of what it had before.
func (s *series) put(seg *member, e *segment.Entries) {
	at := len(s.parts)
	for at > 0 && s.parts[at-1].seg.Number > seg.Number {
		at--
	}
	if at > 0 && s.parts[at-1].seg == seg {
		at--
	} else {
		s.parts = slices.Insert(s.parts, at, part{})
	}
	s.parts[at] = part{seg, e, e.List[0].Time, e.List[len(e.List)-1].Time}
	s.mixed = s.mixed || !s.follows(at) || !s.follows(at+1)
}

// pick is the index of the still that op and t mean, or -1 if there is none or none that can be
// better.
func (p *part) pick(op Op, t int64, better func(int64) bool) int {
	switch op {
	case Before, AtOrBefore:
		if p.min > t || !better(p.max) {
			return -1
		}
	case AtOrAfter, After:
		if p.max < t || !better(p.min) {
			return -1
		}
	}
	return pick(p.List, op, t)
}

// find is the place of the still that op and t mean. Where segments overlap in time, as after a
// clock step, every part is asked, but of most the two times at hand decide; with thousands of
// segments that is some microseconds. Else it is one part. Of several stills of one time, the one
// in the newest segment counts (see the ring's order), so that one comes first and another must be
// better. Nothing is looked for in the segments of but.
func (s *series) find(op Op, t int64, but ...*member) (best location, ok bool) {
	better := func(at int64) bool {
		switch {
		case !ok:
			return true
		case op == AtOrAfter || op == After:
			return at < best.Time
		}
		return at > best.Time
	}
	first, last := s.window(op, t)
	if len(but) > 0 {
		first, last = 0, len(s.parts)-1
	}
	for i := last; i >= first; i-- {
		p := &s.parts[i]
		if slices.Contains(but, p.seg) {
			continue
		}
		if n := p.pick(op, t, better); n >= 0 && better(p.List[n].Time) {
			best, ok = location{p.seg, p.List[n], p.seg.Shift}, true
		}
	}
	return best, ok
}

// window is the first and the last part that may have the still that op and t mean; none if the
// last is before the first.
func (s *series) window(op Op, t int64) (first, last int) {
	n := len(s.parts)
	if s.mixed {
		return 0, n - 1
	}
	var i int
	switch op {
	case Before:
		i = sort.Search(n, func(i int) bool { return s.parts[i].min >= t }) - 1
	case AtOrBefore, At:
		i = sort.Search(n, func(i int) bool { return s.parts[i].min > t }) - 1
	case AtOrAfter:
		i = sort.Search(n, func(i int) bool { return s.parts[i].max >= t })
	default:
		i = sort.Search(n, func(i int) bool { return s.parts[i].max > t })
	}
	if i < 0 || i == n {
		return 0, -1
	}
	return i, i
}

// follows says whether the n-th part, if there is one, begins after the one before it ended.
func (s *series) follows(n int) bool {
	return n <= 0 || n >= len(s.parts) || s.parts[n-1].max < s.parts[n].min
}

// lookMixed finds out anew whether the parts follow each other in time.
func (s *series) lookMixed() {
	s.mixed = false
	for i := 1; i < len(s.parts) && !s.mixed; i++ {
		s.mixed = !s.follows(i)
	}
}

// later says whether a segment of a higher number has a still of time t.
func (s *series) later(t int64, number uint64) bool {
	for i := len(s.parts) - 1; i >= 0 && s.parts[i].seg.Number > number; i-- {
		if p := &s.parts[i]; p.min <= t && t <= p.max {
			if _, found := segment.Search(p.List, t); found {
				return true
			}
		}
	}
	return false
}

// of is the place of a segment's part, or where it would be.
func (s *series) of(seg *member) (int, bool) {
	return slices.BinarySearchFunc(s.parts, seg.Number, func(p part, n uint64) int {
		return cmp.Compare(p.seg.Number, n)
	})
}

// forget takes a damaged still out.
func (s *series) forget(l location) {
	n, found := s.of(l.Seg)
	if !found {
		return
	}
	p := &s.parts[n]
	i, found := segment.Search(p.List, l.Time)
	if !found || p.List[i].Place != l.Place {
		return
	}
	if p.List = slices.Delete(p.List, i, i+1); len(p.List) == 0 {
		s.parts = slices.Delete(s.parts, n, n+1)
		return
	}
	p.min, p.max = p.List[0].Time, p.List[len(p.List)-1].Time
}

// drop takes a segment's part out, and says whether there was one.
func (s *series) drop(seg *member) bool {
	i, found := s.of(seg)
	if !found {
		return false
	}
	if at := s.parts[i].max; !s.pruned || at > s.prunedTo {
		s.pruned, s.prunedTo = true, at
	}
	if i == 0 { // as a rule; moving the others would take as long as there are segments
		s.parts[0] = part{}
		s.parts = s.parts[1:]
	} else {
		s.parts = slices.Delete(s.parts, i, i+1)
	}
	if s.mixed { // perhaps no longer
		s.lookMixed()
	}
	return true
}

// bounds are the oldest and the newest still's times.
func (s *series) bounds() (oldest, newest int64, ok bool) {
	for i := range s.parts {
		p := &s.parts[i]
		if !ok {
			oldest, newest, ok = p.min, p.max, true
		}
		oldest, newest = min(oldest, p.min), max(newest, p.max)
	}
	return oldest, newest, ok
}
