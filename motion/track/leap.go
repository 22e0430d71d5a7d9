package track

import (
	"math"
	"time"

	"vmsbridge/motion/area"
)

// What is large and fast, such as a car close to the camera, is seen in two or three pictures only,
// and each time somewhere else. Pictures of the same clear form, one after another along a line,
// are a thing all the same.
const (
	leapWay      = 0.6  // of its larger side, that it goes at least from picture to picture
	leapHeight   = 1.35 // times as high or wide, at most, as in the picture before
	leapSize     = 1.5  // times as many cells, likewise
	leapStraight = 0.97 // cosine of the angle between its leaps: an insect flies in curls
	leapCells    = 2    // times what is small, that it is large at least: insects that leap are smaller
	leapEven     = 1.6  // times as long, at most, as the leap before
	leapsSure    = 2    // leaps that confirm it
	boldContrast = 3    // thresholds, by which it must differ for one leap to be enough
	boldOutline  = 1.2  // of substance, likewise
)

// form is what a track looked like in one picture.
type form struct {
	box    area.Rect
	cells  int
	border bool // it touches the picture's border, so that a part of it is not seen
	clear  bool // it is a thing rather than light, and moves
	bold   bool // beyond doubt
}

// formOf is the form of what one picture shows; width and height are the picture's.
func (t *Tracker) formOf(l *look, contrast float64) form {
	f := form{box: l.Box, cells: l.Fore}
	f.border = l.Box.Left <= 1 || l.Box.Top <= 1 || l.Box.Right >= t.width-1 || l.Box.Bottom >= t.height-1
	f.clear = l.Strong && l.Active && l.Telling() && l.Substance() >= area.ThingSubstance && 2*l.Fore >= l.Moved &&
		l.Fore >= leapCells*t.small
	// what is smaller may be an insect
	f.bold = f.clear && !f.border && contrast*float64(l.Moved) >= boldContrast*float64(l.Limit) &&
		l.Substance() >= boldOutline && l.Fore >= middling*t.small
	return f
}

// like tells whether two forms may be the same thing.
func (f *form) like(g *form) bool {
	near := func(a, b int, most float64) bool {
		return float64(a) <= most*float64(b) && float64(b) <= most*float64(a)
	}
	if !near(f.box.Bottom-f.box.Top, g.box.Bottom-g.box.Top, leapHeight) {
		return false
	}
	return f.border || g.border || near(f.box.Right-f.box.Left, g.box.Right-g.box.Left, leapHeight) &&
		near(f.cells, g.cells, leapSize)
}

// leap takes the form of the newest picture, at the time at, into what is known of the track's
// leaps.
func (k *Track) leap(f form, t *Tracker, at, dt time.Duration) {
	last := k.form
	k.form = f
	if k.linked <= 1 || !f.clear || !last.clear || !f.like(&last) || at-k.formAt > dt*3/2 {
		k.leaps, k.formAt = 0, at
		return
	}
	k.formAt = at
	dx := t.between(last.box.Left, f.box.Left, last.box.Right, f.box.Right, t.width)
	dy := t.between(last.box.Top, f.box.Top, last.box.Bottom, f.box.Bottom, t.height)
	way := math.Hypot(dx, dy)
	larger := max(f.box.Right-f.box.Left, f.box.Bottom-f.box.Top)
	before := math.Hypot(k.leapX, k.leapY)
	if way < leapWay*float64(larger) || k.leaps > 0 && (dx*k.leapX+dy*k.leapY < leapStraight*way*before ||
		way > leapEven*before || before > leapEven*way) {
		k.leaps = 0
		return
	}
	k.leaps++
	k.leapX, k.leapY = dx, dy
	k.bold = f.bold && last.bold
}

// between is how far a box went along one side of the picture, whose far end is at size: by the
// edge that both pictures show.
func (t *Tracker) between(from, to, farFrom, farTo, size int) float64 {
	switch {
	case from > 1 && to > 1:
		return float64(to - from)
	case farFrom < size-1 && farTo < size-1:
		return float64(farTo - farFrom)
	}
	return float64(to+farTo-from-farFrom) / 2
}

// leapt tells whether the track's leaps leave no doubt.
func (k *Track) leapt() bool { return k.leaps >= leapsSure || k.leaps > 0 && k.bold }
