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

// collect measures the labelled areas, and keeps those in which at least minMoved cells moved or crept.
func (l *labeler) collect(d *Detector, v *plane.Views, minMoved int) []object {
	l.objects = l.objects[:0]
	number := l.number[:len(l.parent)]
	// The first pass only counts, so that the many small areas of a noisy picture need no place among the objects.
	counts := d.counts[:len(l.parent)]
	clear(counts)
	l.count(v, counts)
	for i := range number {
		number[i] = -1
		if int(counts[i]) < minMoved || l.parent[i] != uint16(i) || i == 0 {
			continue
		}
		at := len(l.objects)
		if at == maxObjects { // the smallest makes room, if it is smaller
			at = 0
			for k := range l.objects {
				if l.objects[k].cells < l.objects[at].cells {
					at = k
				}
			}
			if l.objects[at].cells >= int(counts[i]) {
				continue
			}
			for k := range i {
				if number[k] == int16(at) {
					number[k] = -1
				}
			}
			l.objects[at] = object{}
		} else {
			l.objects = l.objects[:at+1]
		}
		l.objects[at] = object{cells: int(counts[i]), track: -1}
		number[i] = int16(at)
	}
	if len(l.objects) == 0 {
		return nil
	}
	for i := 1; i < len(number); i++ {
		number[i] = number[l.root(uint16(i))]
	}
	l.measure(v)
	return l.objects
}

// count adds to counts, for each root label, the cells that moved, or began to differ from the background lately.
func (l *labeler) count(v *plane.Views, counts []int32) {
	first, end := 2*l.from*v.Width, min(2*l.to, v.Height)*v.Width
	if first >= end {
		return
	}
	plane.Stirs(v.Flags[first:end], v.Solid[first:end], v.Parked[first:end], v.Stay[first:end], v.Young, l.stirs[:(end-first+63)/64])
	stirs := l.stirs
	for _, r := range l.runs {
		from := 2*int(r.y)*v.Width - first + 2*int(r.from)
		to := from + min(2*int(r.to), v.Width) - 2*int(r.from)
		n := 0
		for rows := min(2, v.Height-2*int(r.y)); rows > 0; rows-- {
			if at := from >> 6; to <= 64*at+64 { // mostly
				n += bits.OnesCount64(stirs[at] >> (from & 63) << ((from + 64 - to) & 63))
			} else {
				n += ones(stirs, from, to)
			}
			from, to = from+v.Width, to+v.Width
		}
		if n > 0 {
			counts[l.root(r.label)] += int32(n)
		}
	}
}

// ones counts the bits from..to, which are of more than one word.
func ones(set []uint64, from, to int) int {
	first, last := from/64, (to-1)/64
	a, b := ^uint64(0)<<(from%64), ^uint64(0)>>(63-(to-1)%64)
	n := bits.OnesCount64(set[first]&a) + bits.OnesCount64(set[last]&b)
	for _, w := range set[first+1 : last] {
		n += bits.OnesCount64(w)
	}
	return n
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
