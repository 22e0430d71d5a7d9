package track

import (
	"math"
	"math/bits"
	"time"

	"vmsbridge/motion/area"
)

// What falls everywhere.
const (
	flurry     = 6   // small things that move at a time, above which something falls everywhere: that is weather
	flurryFade = 1.5 // time, in seconds, over which they are counted
	likeOthers = 2.5 // things at least half as large that move at a time, from which a small thing is weather like them
)

// fall counts the small things that move at a time, by their size.
type fall struct {
	all   float64     // over the last seconds
	sizes [20]float64 // of them, by sizeClass
}

// sizeClass has two classes for each doubling of the cells.
func sizeClass(cells int) int { return min(19, bits.Len(uint(cells*cells))) }

// take counts those of a picture, dt after the one before.
func (f *fall) take(areas []area.Area, small int, dt time.Duration) {
	var sizes [20]float64
	all := 0.0
	for i := range areas {
		if o := &areas[i]; o.Stirs && o.Size() < small {
			all++
			sizes[sizeClass(o.Size())]++
		}
	}
	share := 1 - math.Exp(-dt.Seconds()/flurryFade)
	f.all += (all - f.all) * share
	for i := range f.sizes {
		f.sizes[i] += (sizes[i] - f.sizes[i]) * share
	}
}

// above is how many of them are at least as large.
func (f *fall) above(cells int) float64 {
	n := 0.0
	for _, v := range f.sizes[sizeClass(cells):] {
		n += v
	}
	return n
}

// Flurries tells whether so many small things move at a time that they are weather: snow, rain,
// insects, leaves.
func (t *Tracker) Flurries() bool { return t.fall.all > flurry }

// Falling is how many small things move at a time, on the mean of the last seconds.
func (t *Tracker) Falling() float64 { return t.fall.all }

// flake tells whether something is one of many small things of its size.
func (t *Tracker) flake(cells int) bool {
	return cells < t.small && t.Flurries() && t.fall.above(cells/2) > likeOthers
}
