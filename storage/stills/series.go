package stills

import (
	"cmp"
	"slices"
	"sort"

	"vmsbridge/storage/stills/segment"
)

// series is all stills of one camera and kind. The index' mu guards it.
type series struct {
	parts []part // of full segments, in the order of the segments' numbers
	mixed bool   // not every part begins after the one before it ended: the clock stepped, or both lanes have some
	tails [segment.Lanes]tail
	// prunedTo is the time of the newest still that was dropped, if pruned.
	pruned   bool
	prunedTo int64
}

// tail is a series' stills in a segment that is being written; entries is nil if it has none.
type tail struct {
	seg *member
	*segment.Entries
}

// location is where a still is.
type location struct {
	Seg *member
	segment.Entry
	Shift int64 // of its segment, when it was located
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
	from, place := -1, -1
	first, last := s.window(op, t)
	if len(but) > 0 {
		first, last = 0, len(s.parts)-1
	}
	for i := last; i >= first; i-- {
		p := &s.parts[i]
		if slices.Contains(but, p.seg) {
			continue
		}
		n := p.pick(op, t, better)
		if n < 0 {
			continue
		}
		if at := p.at(n); better(at) {
			best.Time, ok = at, true
			from, place = i, n
		}
	}
	if from >= 0 {
		p := &s.parts[from]
		best = location{p.seg, p.entry(place), p.seg.Shift}
	}
	for _, tail := range s.tails {
		if tail.Entries == nil || slices.Contains(but, tail.seg) {
			continue
		}
		n := pick(tail.List, op, t)
		if n < 0 {
			continue
		}
		if at := tail.List[n].Time; better(at) || at == best.Time && tail.seg.Number > best.Seg.Number {
			best, ok = location{tail.seg, tail.List[n], tail.seg.Shift}, true
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
			if _, found := p.search(t); found {
				return true
			}
		}
	}
	for _, tail := range s.tails {
		if tail.Entries != nil && tail.seg.Number > number {
			if _, found := segment.Search(tail.List, t); found {
				return true
			}
		}
	}
	return false
}

// forget takes a damaged still out.
func (s *series) forget(l location) {
	for _, tail := range s.tails {
		if tail.Entries != nil && tail.seg == l.Seg {
			if i, found := segment.Search(tail.List, l.Time); found && tail.List[i].Place == l.Place {
				tail.Entries.List = slices.Delete(tail.List, i, i+1)
			}
			return
		}
	}
	for n := range s.parts {
		p := &s.parts[n]
		if p.seg != l.Seg {
			continue
		}
		i, found := p.search(l.Time)
		switch {
		case !found || p.entry(i).Place != l.Place:
			continue
		case p.len() == 1:
			s.parts = slices.Delete(s.parts, n, n+1)
		default:
			p.remove(i)
		}
		return
	}
}

// drop takes a segment's parts out, and says whether there were any.
func (s *series) drop(seg *member) bool {
	i, found := slices.BinarySearchFunc(s.parts, seg.Number, func(p part, n uint64) int {
		return cmp.Compare(p.seg.Number, n)
	})
	if !found {
		return false
	}
	end := i
	for ; end < len(s.parts) && s.parts[end].seg == seg; end++ {
		if at := s.parts[end].max; !s.pruned || at > s.prunedTo {
			s.pruned, s.prunedTo = true, at
		}
	}
	if i == 0 { // as a rule; moving the others would take as long as there are segments
		clear(s.parts[:end])
		s.parts = s.parts[end:]
	} else {
		s.parts = slices.Delete(s.parts, i, end)
	}
	if s.mixed { // perhaps no longer
		s.lookMixed()
	}
	return true
}

// empty says whether there is no still.
func (s *series) empty() bool {
	for _, tail := range s.tails {
		if tail.Entries != nil && len(tail.List) > 0 {
			return false
		}
	}
	return len(s.parts) == 0
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
	for _, tail := range s.tails {
		if tail.Entries != nil && len(tail.List) > 0 {
			take(tail.List[0].Time, tail.List[len(tail.List)-1].Time)
		}
	}
	return oldest, newest, ok
}
