package motion

import "vmsbridge/motion/plane"

// outline is what edges the cells of an area have that differ from the background: where they end, and inside. It tells a thing from light, also from light with
// a sharp edge here and there. A thing ends at once all around, has edges of its own inside, and hides those that the background has there. Light fades
// out on most sides, and leaves the background's edges where they are.
type outline struct {
	ends  int // sides of cells at which the area ends
	sharp int // of those, that end at once
	inner int // sides within the area
	torn  int // of those, with an edge that no light makes of the background's
	own   int // of inner, with an edge of the background's
	lost  int // of those, that the picture does not have

	plain  int     // cells of areas that are not glaring
	glared int     // cells of those that are
	glow   float64 // of the latter: how little a beam would explain them, in all
}

const (
	outlined       = 60   // cells, below which an outline says little
	lightSubstance = 0.75 // below which an area is light: most that walks has 1.2 and more, a hand with its shadow 0.8
	beamSubstance  = 1.2  // below which what is brighter than the background may be a beam all the same
	thingSubstance = 0.9  // of a track, from which it may be a thing
)

// steep is at how many places the difference from the background changes at once, as at a thing's edge but not at a soft shadow's.
func (o *outline) steep() int { return o.sharp + o.torn }

// add adds another area's outline.
func (o *outline) add(b *outline) {
	o.ends, o.sharp, o.inner, o.torn, o.own, o.lost = o.ends+b.ends, o.sharp+b.sharp, o.inner+b.inner, o.torn+b.torn, o.own+b.own, o.lost+b.lost
	o.plain, o.glared, o.glow = o.plain+b.plain, o.glared+b.glared, o.glow+b.glow
}

// substance is the sum of the shares of the three: 0 for soft light, 1.2 to 2 for most that walks. With few edges of the background's it is taken that three
// of ten are lost.
func (o *outline) substance() float64 {
	s := float64(o.sharp)/float64(max(1, o.ends)) + 2*float64(o.torn)/float64(max(1, o.inner)) + (float64(o.lost)+6)/(float64(o.own)+20)
	if o.glared == 0 {
		return s
	}
	return (s*float64(o.plain) + o.glow) / float64(o.plain+o.glared) // glare knows better
}

const (
	coreCells  = 24 // of what differs most, from which they may tell what an area is
	coreRounds = 8
)

// core looks again at an area that seems to be light, or half light, without what differs less than half of its contrast, again and again: a thing throws a shadow that is larger
// than itself, and both are one area. It tells whether there is a thing in it, whose outline o has then.
func (d *Detector) core(j int, o *object, now []uint16) bool {
	if o.movedWeight == 0 || !o.telling() {
		return false
	}
	g, m := d.grid, &d.model
	n, least, contrast := 0, int32(0), float64(o.movedSquare)/float64(o.movedWeight)
	for range coreRounds {
		least = int32(contrast / 2)
		weight, square := 0.0, 0.0
		n = 0
		for y := o.whole.top; y < o.whole.bottom; y++ {
			for x := o.whole.left; x < o.whole.right; x++ {
				i := y*g.width + x
				d.scratch[i] = 0
				if d.solid[i] == 0 || d.flags[i]&cellFore == 0 {
					continue
				}
				if w := abs32(int32(now[i]) - int32(m.background[i])); w >= least && d.labels.of(x, y) == j {
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
	var inner outline
	glow := float64(beyondGlare)
	if n >= coreCells && 4*n < 3*o.fore {
		var s plane.Sums
		v := d.views(now, nil, nil, sameExposure, sameExposure)
		v.Flags, v.Solid = d.scratch, d.scratch
		for y := o.whole.top; y < o.whole.bottom; y++ {
			plane.Trace(&v, o.whole.left, y, o.whole.right-o.whole.left, &s)
		}
		inner = outlineOf(&s)
		if o.glared > 0 && inner.substance() >= thingSubstance {
			glow = d.glow(o.whole, now, &inner, true)
		}
	}
	for y := o.whole.top; y < o.whole.bottom; y++ {
		clear(d.scratch[y*g.width+o.whole.left : y*g.width+o.whole.right])
	}
	if inner.ends == 0 || inner.steep()*inner.steep() < 9*n || inner.substance() < thingSubstance || glow < thingSubstance {
		return false
	}
	o.outline = inner
	return true
}
