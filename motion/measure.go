package motion

import (
	"math/bits"

	"vmsbridge/motion/plane"
)

// views are what areas are measured in: the newest picture, those the long and the short lag ago, and the light that makes these comparable.
func (d *Detector) views(now, before, blink []uint16, light, blinkLight exposure) plane.Views {
	m := &d.model
	return plane.Views{
		Now: now, Before: before, Blink: blink, Background: m.background, Noise: d.doubt, Stay: m.stay, Parked: m.parked, Worn: d.habit.memory,
		Flags: d.flags, Solid: d.solid, Width: d.grid.width, Height: d.grid.height,
		Light: plane.Exposure(light), BlinkLight: plane.Exposure(blinkLight), Contrast: d.contrast, Young: creepAge,
	}
}

// measure sums up the cells of all objects.
func (l *labeler) measure(v *plane.Views) {
	for k := range l.objects {
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
		near, from, to := l.near[int(r.y)*l.words+int(r.from>>6)]>>(r.from&63), int(r.from), int(r.to)
		if near<<(64-uint(to-from)) == 0 { // mostly nothing stands there
			add(v, from, to-from, int(r.y), &sums[k][0])
			continue
		}
		for from < to {
			at := near & 1 // 1 where something stands
			n := min(to-from, bits.TrailingZeros64(near^-at))
			if at == 1 && !l.there[k] {
				l.there[k] = true
				l.sums[k][1].Reset()
			}
			add(v, from, n, int(r.y), &sums[k][at])
			from, near = from+n, near>>n
		}
	}
	for k := range l.objects {
		o, s := &l.objects[k], &l.sums[k]
		o.cells, o.box, o.whole = 0, noRect, noRect
		o.take(&s[0])
		o.fresh, o.freshWeight, o.nowNew, o.newWeight, o.openWeight = o.moved, o.movedWeight, o.now, o.nowWeight, o.weight
		if l.there[k] {
			o.take(&s[1])
		}
	}
}

// add measures the cells of n tiles of row y of tiles.
func add(v *plane.Views, from, n, y int, s *plane.Sums) {
	x, y := 2*from, 2*y
	cells := min(2*n, v.Width-x)
	if y+1 < v.Height {
		plane.MeasurePair(v, x, y, cells, s)
		plane.TracePair(v, x, y, cells, s)
	} else {
		plane.Measure(v, x, y, cells, s)
		plane.Trace(v, x, y, cells, s)
	}
}

// take adds the sums of some cells to an object, but for those that say where something is new.
func (o *object) take(s *plane.Sums) {
	o.cells += plane.Count(&s.Cells)
	o.gone += plane.Count(&s.Gone)
	o.fore += plane.Count(&s.Fore)
	o.creep += plane.Count(&s.Creep)
	o.now += plane.Count(&s.Now)
	o.nowWeight += plane.Total(&s.NowWeight)
	o.weight += plane.Total(&s.Weight)
	o.differs += plane.Total(&s.ForeWeight)
	o.brighter += plane.Total(&s.Brighter)
	o.foreLimit += plane.Total(&s.ForeLimit)
	o.sumX += plane.Total(&s.ForeX)
	o.sumY += plane.Total(&s.ForeY)
	o.moved += plane.Count(&s.Moved)
	o.movedWeight += plane.Total(&s.MovedWeight)
	o.movedSquare += plane.Total(&s.SquareLow) + plane.Total(&s.SquareHigh)<<16
	o.limit += plane.Total(&s.Limit)
	o.worn += plane.Total(&s.Worn)
	o.movedX += plane.Total(&s.MovedX)
	o.movedY += plane.Total(&s.MovedY)
	inner := outlineOf(s)
	o.outline.add(&inner)
	if s.Bottom >= 0 {
		o.whole = o.whole.union(rect{int(lowest(&s.Left)), s.Top, int(highest(&s.Right)) + 1, s.Bottom + 1})
	}
	if s.MovedBottom >= 0 {
		o.box = o.box.union(rect{int(lowest(&s.MovedLeft)), s.MovedTop, int(highest(&s.MovedRight)) + 1, s.MovedBottom + 1})
	}
}

// outlineOf is the outline that was traced.
func outlineOf(s *plane.Sums) outline {
	return outline{ends: plane.Count(&s.Ends), sharp: plane.Count(&s.Sharp), inner: plane.Count(&s.Inner), torn: plane.Count(&s.Torn), own: plane.Count(&s.Own), lost: plane.Count(&s.Lost)}
}

func lowest(p *[16]int16) int16 {
	return min(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15])
}

func highest(p *[16]int16) int16 {
	return max(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15])
}
