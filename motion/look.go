package motion

import (
	"math"
	"time"
)

// substanceFade is the time, in seconds, over which the outlines of a track's pictures are looked at.
const substanceFade = 0.6

// look is what one picture shows of a track: the sum of the objects linked to it.
type look struct {
	object
	any     bool
	largest int // size of the largest
}

// sum adds up the objects linked to track number i. Where much falls, what flutters around the thing is left out also of where it is.
func (t *tracker) sum(objects []object, i int) look {
	l := look{object: object{box: noRect}}
	largest := 0
	for j := range objects {
		if objects[j].track == i {
			largest = max(largest, objects[j].size())
		}
	}
	for j := range objects {
		o := &objects[j]
		if o.track != i {
			continue
		}
		l.any = true
		l.strong, l.active = l.strong || o.strong, l.active || o.stirs && o.active
		l.weak, l.stirs, l.creeps = l.weak || o.weak, l.stirs || o.stirs, l.creeps || o.creeps
		l.shines = l.shines || o.shines
		l.largest = max(l.largest, o.size())
		around := 4*o.size() < largest // what flutters around does not make it larger
		if !around || t.fall.all <= flurry {
			l.moved, l.movedX, l.movedY = l.moved+o.moved, l.movedX+o.movedX, l.movedY+o.movedY
		}
		if around {
			continue
		}
		l.cells += o.cells
		l.fore, l.sumX, l.sumY = l.fore+o.fore, l.sumX+o.sumX, l.sumY+o.sumY
		l.movedWeight, l.movedSquare, l.limit, l.worn = l.movedWeight+o.movedWeight, l.movedSquare+o.movedSquare, l.limit+o.limit, l.worn+o.worn
		l.outline.add(&o.outline)
		if o.box.empty() {
			l.box = l.box.union(o.whole)
		} else {
			l.box = l.box.union(o.box)
		}
	}
	return l
}

// contrast is how much what moves differs, each cell weighed by that, so that a thing's faint shadow hardly changes it.
func (l *look) contrast() float64 { return float64(l.movedSquare) / float64(max(1, l.movedWeight)) }

// edged tells whether what differs from the background has the edges of a thing all around: of a square, eight times the square root of its area.
func (l *look) edged() bool { return l.steep()*l.steep() >= 36*l.fore }

// gather sums up the pictures that speak for motion.
func (k *track) gather(l *look, contrast float64, at, dt time.Duration) {
	if !l.strong {
		k.missed(at)
		return
	}
	k.strongAt = at
	if k.faint == 0 && k.strong == 0 {
		k.ranFrom = at - dt
	}
	clear := contrast*float64(l.moved) >= clearContrast*float64(l.limit)
	if clear || l.edged() {
		k.faint += dt
	}
	if !clear {
		return
	}
	k.strong += dt
	if l.active {
		k.active += dt
		k.pictures++
	}
}

// consider takes the outline of one picture into the mean. The fainter a picture is the less it counts: a hand's soft shadow comes before the hand,
// which is no light for that. What entered as a beam counts also while it is one, so that a single picture in which it is hard to tell makes no thing of it.
func (k *track) consider(l *look, dt time.Duration) {
	if !l.telling() || !l.strong && !l.shines {
		return
	}
	fade := math.Exp(-dt.Seconds() / substanceFade)
	weight := dt.Seconds() * l.contrast() * l.contrast()
	k.substance, k.outlines = k.substance*fade+l.substance()*weight, k.outlines*fade+weight
}

// solid tells whether the track is a thing rather than light, as far as its outlines say.
func (k *track) solid() bool { return k.substance >= thingSubstance*k.outlines }
