package area

import (
	"math/bits"

	"vmsbridge/motion/plane"
)

// measure sums up the cells of all areas.
func (l *Finder) measure(v *plane.Views) {
	for k := range l.areas {
		l.sums[k][0].Reset()
		l.there[k] = false
	}
	runs, number, sums := l.runs, l.number, l.sums
	for i := range runs {
		r := &runs[i]
		k := number[r.label]
		if k < 0 {
			continue
		}
		near, from, to := l.near[int(r.Y)*l.words+int(r.From>>6)]>>(r.From&63), int(r.From), int(r.To)
		if near<<(64-uint(to-from)) == 0 { // mostly nothing stands there
			add(v, from, to-from, int(r.Y), &sums[k][0])
			continue
		}
		for from < to {
			at := near & 1 // 1 where something stands
			n := min(to-from, bits.TrailingZeros64(near^-at))
			if at == 1 && !l.there[k] {
				l.there[k] = true
				l.sums[k][1].Reset()
			}
			add(v, from, n, int(r.Y), &sums[k][at])
			from, near = from+n, near>>n
		}
	}
	for k := range l.areas {
		o, s := &l.areas[k], &l.sums[k]
		o.Cells, o.Box, o.Whole = 0, NoRect, NoRect
		o.take(&s[0])
		o.fresh, o.freshWeight, o.nowNew, o.newWeight, o.openWeight = o.Moved, o.MovedWeight, o.now, o.nowWeight,
			o.weight
		if l.there[k] {
			o.take(&s[1])
		}
	}
}

// add measures the cells of n tiles of row y of tiles.
func add(v *plane.Views, from, n, y int, s *plane.Sums) {
	plane.Survey(v, 2*from, 2*y, min(2*n, v.Width-2*from), s)
}

// take adds the sums of some cells to an area, but for those that say where something is new.
func (o *Area) take(s *plane.Sums) {
	o.Cells += plane.Count(&s.Cells)
	o.Gone += plane.Count(&s.Gone)
	o.Fore += plane.Count(&s.Fore)
	o.Creep += plane.Count(&s.Creep)
	o.now += plane.Count(&s.Now)
	o.nowWeight += plane.Total(&s.NowWeight)
	o.weight += plane.Total(&s.Weight)
	o.Differs += plane.Total(&s.ForeWeight)
	o.Brighter += plane.Total(&s.Brighter)
	o.ForeLimit += plane.Total(&s.ForeLimit)
	o.SumX += plane.Total(&s.ForeX)
	o.SumY += plane.Total(&s.ForeY)
	o.Moved += plane.Count(&s.Moved)
	o.MovedWeight += plane.Total(&s.MovedWeight)
	o.MovedSquare += plane.Total(&s.SquareLow) + plane.Total(&s.SquareHigh)<<16
	o.Limit += plane.Total(&s.Limit)
	o.Worn += plane.Total(&s.Worn)
	o.MovedX += plane.Total(&s.MovedX)
	o.MovedY += plane.Total(&s.MovedY)
	inner := OutlineOf(s)
	o.Outline.Add(&inner)
	if s.Bottom >= 0 {
		o.Whole = o.Whole.Union(Rect{int(lowest(&s.Left)), s.Top, int(highest(&s.Right)) + 1, s.Bottom + 1})
	}
	if s.MovedBottom >= 0 {
		o.Box = o.Box.Union(Rect{int(lowest(&s.MovedLeft)), s.MovedTop, int(highest(&s.MovedRight)) + 1,
			s.MovedBottom + 1})
	}
}

func lowest(p *[16]int16) int16 {
	return min(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15])
}

func highest(p *[16]int16) int16 {
	return max(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15])
}
