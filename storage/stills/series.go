package stills

import (
	"cmp"
	"slices"
	"sort"
)

// series is all stills of one camera and kind. The ring's mu guards it.
type series struct {
	parts []part // of full segments, in the order of the segments' numbers
	mixed bool   // not every part begins after the one before it ended: the clock stepped, or both lanes have some
	tails [lanes]tail
	// prunedTo is the time of the newest still that was dropped, if pruned.
	pruned   bool
	prunedTo int64
}

// tail is a series' stills in a segment that is being written; entries is nil if it has none.
type tail struct {
	seg *segment
	*entries
}

// part is a full segment's stills of a series: seg.list[lo:hi], sorted, never empty.
type part struct {
	seg      *segment
	lo, hi   uint32
	min, max int64
}

func (p part) list() []entry { return p.seg.list[p.lo:p.hi] }

// location is where a still is.
type location struct {
	seg *segment
	entry
	shift int64 // of its segment, when it was located
}

// find is the place of the still that op and t mean. Where segments overlap in time, as after a clock step, every part is
// asked, but of most the two times at hand decide; with thousands of segments that is some microseconds. Else it is one part. Of several stills
// of one time, the one in the newest segment counts (see Ring.order), so that one comes first and another must be better.
func (s *series) find(op Op, t int64) (best location, ok bool) {
	better := func(at int64) bool {
		switch {
		case !ok:
			return true
		case op == AtOrAfter || op == After:
			return at < best.time
		}
		return at > best.time
	}
	from, place := -1, -1
	first, last := s.window(op, t)
	for i := last; i >= first; i-- {
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
		best = location{p.seg, p.list()[place], p.seg.shift}
	}
	for _, tail := range s.tails {
		if tail.entries == nil {
			continue
		}
		n := pick(tail.list, op, t)
		if n < 0 {
			continue
		}
		if at := tail.list[n].time; better(at) || at == best.time && tail.seg.number > best.seg.number {
			best, ok = location{tail.seg, tail.list[n], tail.seg.shift}, true
		}
	}
	return best, ok
}

// window is the first and the last part that may have the still that op and t mean; none if the last is before the first.
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

// at is the time of the n-th still; that of the first and the last one are at hand.
func (p *part) at(n int) int64 {
	switch n {
	case 0:
		return p.min
	case int(p.hi-p.lo) - 1:
		return p.max
	}
	return p.list()[n].time
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
	return pick(p.list(), op, t)
}

// later says whether a segment of a higher number has a still of time t.
func (s *series) later(t int64, number uint64) bool {
	for i := len(s.parts) - 1; i >= 0 && s.parts[i].seg.number > number; i-- {
		if p := &s.parts[i]; p.min <= t && t <= p.max {
			if _, found := search(p.list(), t); found {
				return true
			}
		}
	}
	for _, tail := range s.tails {
		if tail.entries != nil && tail.seg.number > number {
			if _, found := search(tail.list, t); found {
				return true
			}
		}
	}
	return false
}

// forget takes a damaged still out.
func (s *series) forget(l location) {
	for _, tail := range s.tails {
		if tail.entries != nil && tail.seg == l.seg {
			if i, found := search(tail.list, l.time); found && tail.list[i].place == l.place {
				tail.entries.list = slices.Delete(tail.list, i, i+1)
			}
			return
		}
	}
	for n := range s.parts {
		p := &s.parts[n]
		if p.seg != l.seg {
			continue
		}
		list := p.list()
		i, found := search(list, l.time)
		if !found || list[i].place != l.place {
			return
		}
		copy(list[i:], list[i+1:])
		if p.hi--; p.lo == p.hi {
			s.parts = slices.Delete(s.parts, n, n+1)
			return
		}
		list = p.list()
		p.min, p.max = list[0].time, list[len(list)-1].time
		return
	}
}

// drop takes a segment's part out, and says whether there was one.
func (s *series) drop(seg *segment) bool {
	i, found := slices.BinarySearchFunc(s.parts, seg.number, func(p part, n uint64) int { return cmp.Compare(p.seg.number, n) })
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
		s.mixed = false
		for i := 1; i < len(s.parts) && !s.mixed; i++ {
			s.mixed = !s.follows(i)
		}
	}
	return true
}

// empty says whether there is no still.
func (s *series) empty() bool {
	for _, tail := range s.tails {
		if tail.entries != nil && len(tail.list) > 0 {
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
		if tail.entries != nil && len(tail.list) > 0 {
			take(tail.list[0].time, tail.list[len(tail.list)-1].time)
		}
	}
	return oldest, newest, ok
}

// installLocked gives a full segment's listing to the series; what they had of it as a tail is given up.
func (r *Ring) installLocked(seg *segment, l *listing) {
	seg.list = l.list
	for _, run := range l.runs {
		s := r.seriesLocked(run.key)
		for i := range s.tails {
			if s.tails[i].seg == seg {
				s.tails[i] = tail{}
			}
		}
		if run.lo == run.hi {
			continue
		}
		p := part{seg, run.lo, run.hi, l.list[run.lo].time, l.list[run.hi-1].time}
		at := len(s.parts)
		for at > 0 && s.parts[at-1].seg.number > seg.number {
			at--
		}
		s.parts = slices.Insert(s.parts, at, p)
		s.mixed = s.mixed || !s.follows(at) || !s.follows(at+1)
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
