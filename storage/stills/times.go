package stills

import (
	"cmp"
	"math"
	"slices"
)

// settle moves the times of a segment of an era by shift, and those of its draft d if it is being written; else d is nil.
func (x *memIndex) settle(seg *indexed, d *draft, shift int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	seg.era, seg.shift = 0, seg.shift+shift
	for _, s := range x.series {
		for i := range s.parts {
			if p := &s.parts[i]; p.seg == seg {
				p.min, p.max = p.min+shift, p.max+shift
			}
		}
	}
	if d != nil {
		d.move(shift)
	}
	for k, number := range x.marks {
		if number == seg.number {
			x.series[k].prunedTo += shift
		}
	}
	for _, list := range x.gaps {
		for i := range list {
			if g := &list[i]; g.segment == seg.number {
				g.from, g.to = g.from+shift, shifted(g.to, shift)
			}
		}
		slices.SortFunc(list, func(a, b gapNote) int { return cmp.Compare(a.from, b.from) })
	}
}

// settled ends a series of calls to settle: the segments may follow each other in time now.
func (x *memIndex) settled() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.series {
		s.lookMixed()
	}
}

// eraExtent is the time of the oldest and the newest still of an era, and whether there is any.
func (x *memIndex) eraExtent(era uint32) (lo, hi int64, ok bool) {
	lo, hi = int64(math.MaxInt64), int64(math.MinInt64)
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, s := range x.series {
		for _, p := range s.parts {
			if p.seg.era == era {
				lo, hi = min(lo, p.min), max(hi, p.max)
			}
		}
		for _, t := range s.tails {
			if t.entries != nil && len(t.list) > 0 && t.seg.era == era {
				lo, hi = min(lo, t.list[0].time), max(hi, t.list[len(t.list)-1].time)
			}
		}
	}
	return lo, hi, lo <= hi
}
