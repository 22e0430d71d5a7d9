package stills

import (
	"cmp"
	"math"
	"slices"

	"vmsbridge/storage/stills/segment"
)

// Settle moves the times of a segment of an era by shift, which are those of its draft d if it is
// being written; else d is nil.
func (x *index) Settle(seg *member, d *segment.Draft, shift int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	seg.Era, seg.Shift = 0, seg.Shift+shift
	for _, s := range x.series {
		for i := range s.parts {
			p := &s.parts[i]
			if p.seg != seg {
				continue
			}
			p.min, p.max = p.min+shift, p.max+shift
			if d == nil {
				p.Move(shift)
			}
		}
	}
	if d != nil {
		d.Move(shift)
	}
	for k, number := range x.marks {
		if number == seg.Number {
			x.series[k].prunedTo += shift
		}
	}
	for _, list := range x.gaps {
		for i := range list {
			if g := &list[i]; g.segment == seg.Number {
				g.from, g.to = g.from+shift, segment.Shifted(g.to, shift)
			}
		}
		slices.SortFunc(list, func(a, b gapNote) int { return cmp.Compare(a.from, b.from) })
	}
}

// Settled ends a series of calls of Settle: the segments may follow each other in time now.
func (x *index) Settled() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.series {
		s.lookMixed()
	}
}

// EraExtent is the time of the oldest and the newest still of an era, and whether there is any.
func (x *index) EraExtent(era uint32) (lo, hi int64, ok bool) {
	lo, hi = int64(math.MaxInt64), int64(math.MinInt64)
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, s := range x.series {
		for _, p := range s.parts {
			if p.seg.Era == era {
				lo, hi = min(lo, p.min), max(hi, p.max)
			}
		}
	}
	return lo, hi, lo <= hi
}
