package track

import (
	"math"
	"time"

	"vmsbridge/motion/area"
)

// substanceFade is the time, in seconds, over which the outlines of a track's pictures are looked
// at.
const substanceFade = 0.6

// look is what one picture shows of a track: the sum of the areas linked to it.
type look struct {
	area.Area
	any     bool
	largest int // size of the largest
}

// sum adds up the areas linked to track number i. Where much falls, what flutters around the thing
// is left out also of where it is.
func (t *Tracker) sum(areas []area.Area, i int) look {
	l := look{Area: area.Area{Box: area.NoRect}}
	largest := 0
	for j := range areas {
		if areas[j].Track == i {
			largest = max(largest, areas[j].Size())
		}
	}
	for j := range areas {
		o := &areas[j]
		if o.Track != i {
			continue
		}
		l.any = true
		l.Strong, l.Active = l.Strong || o.Strong, l.Active || o.Stirs && o.Active
		l.Weak, l.Stirs, l.Creeps = l.Weak || o.Weak, l.Stirs || o.Stirs, l.Creeps || o.Creeps
		l.Shines = l.Shines || o.Shines
		if o.Goes && (!l.Goes || o.Since.Before(l.Since)) {
			l.Goes, l.Since = true, o.Since
		}
		l.largest = max(l.largest, o.Size())
		around := 4*o.Size() < largest // what flutters around does not make it larger
		if !around || !t.Flurries() {
			l.Moved, l.MovedX, l.MovedY = l.Moved+o.Moved, l.MovedX+o.MovedX, l.MovedY+o.MovedY
		}
		if around {
			continue
		}
		l.Cells += o.Cells
		l.Fore, l.SumX, l.SumY = l.Fore+o.Fore, l.SumX+o.SumX, l.SumY+o.SumY
		l.MovedWeight, l.MovedSquare, l.Limit, l.Worn = l.MovedWeight+o.MovedWeight, l.MovedSquare+o.MovedSquare,
			l.Limit+o.Limit, l.Worn+o.Worn
		l.Outline.Add(&o.Outline)
		if o.Box.Empty() {
			l.Box = l.Box.Union(o.Whole)
		} else {
			l.Box = l.Box.Union(o.Box)
		}
	}
	return l
}

// contrast is how much what moves differs, each cell weighed by that, so that a thing's faint
// shadow hardly changes it.
func (l *look) contrast() float64 { return float64(l.MovedSquare) / float64(max(1, l.MovedWeight)) }

// edged tells whether what differs from the background has the edges of a thing all around: of a
// square, eight times the square root of its area.
func (l *look) edged() bool { return l.Steep()*l.Steep() >= 36*l.Fore }

// gather sums up the pictures that speak for motion.
func (k *Track) gather(l *look, contrast float64, at, dt time.Duration) {
	if !l.Strong {
		k.missed(at)
		return
	}
	k.strongAt = at
	if k.faint == 0 && k.strong == 0 {
		k.ranFrom = at - dt
	}
	clear := contrast*float64(l.Moved) >= area.ClearContrast*float64(l.Limit)
	if clear || l.edged() {
		k.faint += dt
	}
	if !clear {
		return
	}
	k.strong += dt
	if l.Active {
		k.active += dt
		k.pictures++
	}
}

// consider takes the outline of one picture into the mean. The fainter a picture is the less it
// counts: a hand's soft shadow comes before the hand, which is no light for that. What entered as a
// beam counts also while it is one, so that a single picture in which it is hard to tell makes no
// thing of it.
func (k *Track) consider(l *look, dt time.Duration) {
	if !l.Telling() || !l.Strong && !l.Shines {
		return
	}
	fade := math.Exp(-dt.Seconds() / substanceFade)
	weight := dt.Seconds() * l.contrast() * l.contrast()
	k.substance, k.outlines = k.substance*fade+l.Substance()*weight, k.outlines*fade+weight
}

// solid tells whether the track is a thing rather than light, as far as its outlines say.
func (k *Track) solid() bool { return k.substance >= area.ThingSubstance*k.outlines }
