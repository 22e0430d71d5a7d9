package motion

import (
	"vmsbridge/motion/area"
	"vmsbridge/motion/plane"
)

const (
	coreCells  = 24 // of what differs most, from which they may tell what an area is
	coreRounds = 8
)

// core looks again at an area that seems to be light, or half light, without what differs less than
// half of its contrast, again and again: a thing throws a shadow that is larger than itself, and
// both are one area. It tells whether there is a thing in it, whose outline o has then.
func (d *Detector) core(j int, o *area.Area, now []uint16) bool {
	if o.MovedWeight == 0 || !o.Telling() {
		return false
	}
	g, m := d.grid, &d.model
	n, least, contrast := 0, int32(0), float64(o.MovedSquare)/float64(o.MovedWeight)
	for range coreRounds {
		least = int32(contrast / 2)
		weight, square := 0.0, 0.0
		n = 0
		for y := o.Whole.Top; y < o.Whole.Bottom; y++ {
			for x := o.Whole.Left; x < o.Whole.Right; x++ {
				i := y*g.width + x
				d.scratch[i] = 0
				if d.solid[i] == 0 || d.flags[i]&cellFore == 0 {
					continue
				}
				if w := abs32(int32(now[i]) - int32(m.background[i])); w >= least && d.finder.Of(x, y) == j {
					d.scratch[i] = cellFore
					weight, square = weight+float64(w), square+float64(w)*float64(w)
					n++
				}
			}
		}
		if square <= contrast*weight*1.01 {
			break
		}
		contrast = square / weight
	}
	var inner area.Outline
	glow := float64(beyondGlare)
	if n >= coreCells && 4*n < 3*o.Fore {
		var s plane.Sums
		v := d.views(now, nil, nil, plane.Same, plane.Same)
		v.Flags, v.Solid = d.scratch, d.scratch
		for y := o.Whole.Top; y < o.Whole.Bottom; y++ {
			plane.Trace(&v, o.Whole.Left, y, o.Whole.Right-o.Whole.Left, &s)
		}
		inner = area.OutlineOf(&s)
		if o.Glared > 0 && inner.Substance() >= area.ThingSubstance {
			glow = d.glow(o.Whole, now, &inner, true)
		}
	}
	for y := o.Whole.Top; y < o.Whole.Bottom; y++ {
		clear(d.scratch[y*g.width+o.Whole.Left : y*g.width+o.Whole.Right])
	}
	if inner.Ends == 0 || inner.Steep()*inner.Steep() < 9*n || inner.Substance() < area.ThingSubstance ||
		glow < area.ThingSubstance {
		return false
	}
	o.Outline = inner
	return true
}
