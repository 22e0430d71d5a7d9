package stills

import (
	"sort"

	"vmsbridge/storage/stills/segment"
)

// spot is an entry of a full segment as memory holds it: 12 bytes instead of 16, without a pointer,
// so that millions of them cost the garbage collector nothing.
//
//	low   the lower 32 bits of the time, as nanoseconds since its part's first still
//	mid   the upper 14 bits of that, then the lower 18 bits of the JPEG's size
//	high  the place in units of 8 bytes (27 bits), then the upper 5 bits of the size
type spot struct{ low, mid, high uint32 }

const (
	timeHigh, sizeLow, placeBits = 14, 18, 27
	// maxSpan is what the times of a part may differ by, 19.5 hours; a series that goes on for
	// longer within a segment has several.
	maxSpan = 1 << (32 + timeHigh)
	// maxSize is the largest JPEG whose size is known without reading its record: 8 MiB.
	maxSize = 1 << (sizeLow + 32 - placeBits)
)

// part is a full segment's stills of a series, all of them or a stretch: seg.list[lo:hi], sorted,
// never empty.
type part struct {
	seg      *member
	lo, hi   uint32
	min, max int64 // times of the first and the last still
}

// pack makes spots of entries, as many from the first on as one part can hold.
func pack(list []segment.Entry, into []spot) []spot {
	for _, e := range list {
		after := uint64(e.Time - list[0].Time)
		if after >= maxSpan {
			break
		}
		size := e.Size
		if size >= maxSize {
			size = 0
		}
		into = append(into, newSpot(after, e.Place, size))
	}
	return into
}

func newSpot(after uint64, place, size uint32) spot {
	return spot{uint32(after), uint32(after>>32) | size<<timeHigh, place/segment.Align | size>>sizeLow<<placeBits}
}

func (s spot) after() int64  { return int64(s.low) | int64(s.mid&(1<<timeHigh-1))<<32 }
func (s spot) place() uint32 { return s.high & (1<<placeBits - 1) * segment.Align }
func (s spot) size() uint32  { return s.mid>>timeHigh | s.high>>placeBits<<sizeLow }

func (p *part) len() int { return int(p.hi - p.lo) }

func (p *part) spots() []spot { return p.seg.list[p.lo:p.hi] }

// entry is the n-th still.
func (p *part) entry(n int) segment.Entry {
	s := p.spots()[n]
	return segment.Entry{Time: p.min + s.after(), Place: s.place(), Size: s.size()}
}

// at is the time of the n-th still; that of the first and the last one are at hand.
func (p *part) at(n int) int64 {
	switch n {
	case 0:
		return p.min
	case p.len() - 1:
		return p.max
	}
	return p.min + p.spots()[n].after()
}

// search is the place of a time, or where it would be.
func (p *part) search(t int64) (int, bool) {
	switch {
	case t < p.min:
		return 0, false
	case t > p.max:
		return p.len(), false
	}
	list, after := p.spots(), t-p.min
	i := sort.Search(len(list), func(i int) bool { return list[i].after() >= after })
	return i, list[i].after() == after
}

// pick is the index of the still that op and t mean, or -1 if there is none or none that can be
// better.
func (p *part) pick(op Op, t int64, better func(int64) bool) int {
	switch op {
	case Before, AtOrBefore:
		if p.min > t || op == Before && p.min == t || !better(p.max) {
			return -1
		}
	case AtOrAfter, After:
		if p.max < t || op == After && p.max == t || !better(p.min) {
			return -1
		}
	}
	i, found := p.search(t)
	switch {
	case op == Before || op == AtOrBefore && !found:
		return i - 1
	case op == At && !found:
		return -1
	case op == After && found:
		return i + 1
	}
	return i
}

// remove takes the n-th still out. The part must have another.
func (p *part) remove(n int) {
	list := p.spots()
	if n == 0 { // the others' times count from it
		first := p.at(1)
		for i := range list[1:] {
			s := &list[i+1]
			*s = newSpot(uint64(p.min+s.after()-first), s.place(), s.size())
		}
		p.min = first
	}
	copy(list[n:], list[n+1:])
	p.hi--
	p.max = p.min + list[p.len()-1].after()
}
