package motion

import (
	"math"
	"math/bits"
	"time"
)

const (
	flurry     = 6    // small things that move at a time, above which something falls everywhere: that is weather
	flurryFade = 1.5  // time, in seconds, over which they are counted
	likeOthers = 2.5  // things at least half as large that move at a time, from which a small thing is weather like them
	alike      = 4    // times as large, at most, as the track was, that a thing is among others that fly about
	aheadAfter = 3    // pictures, after which it is known where a track goes
	aheadFade  = 0.25 // time, in seconds, over which that is smoothed
	shred      = 4    // times smaller than the largest part of a thing is what flutters around it
	shredReach = 2    // cells, by which that may be away from it
)

// fall counts the small things that move at a time, by their size.
type fall struct {
	all   float64     // over the last seconds
	sizes [20]float64 // of them, by sizeClass
}

// sizeClass has two classes for each doubling of the cells.
func sizeClass(cells int) int { return min(19, bits.Len(uint(cells*cells))) }

// take counts those of a picture, dt after the one before.
func (f *fall) take(objects []object, small int, dt time.Duration) {
	var sizes [20]float64
	all := 0.0
	for i := range objects {
		if o := &objects[i]; o.stirs && o.size() < small {
			all++
			sizes[sizeClass(o.size())]++
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

// weather tells whether a track is one of many small things of its kind.
func (t *tracker) weather(k *track) bool {
	return k.cells < float64(t.small) && t.amongMany(int(k.typical/2))
}

// flake tells whether something is one of many small things of its size.
func (t *tracker) flake(cells int) bool {
	return cells < t.small && t.amongMany(cells/2)
}

// amongMany tells whether something falls everywhere, much of it at least as large.
func (t *tracker) amongMany(cells int) bool {
	return t.fall.all > flurry && t.fall.above(cells) > likeOthers
}

// link finds the tracks that the objects of a picture belong to, the largest objects first, and begins others.
func (t *tracker) link(objects []object, at, dt time.Duration, wall time.Time) {
	known := len(t.tracks)
	for i := range known {
		t.tracks[i].main = -1
	}
	t.order = t.order[:0]
	for i := range objects {
		if !objects[i].stirs && !objects[i].creeps && !objects[i].shines {
			continue
		}
		j := len(t.order)
		t.order = append(t.order, i)
		for ; j > 0 && objects[t.order[j-1]].moved < objects[i].moved; j-- {
			t.order[j] = t.order[j-1]
		}
		t.order[j] = i
	}
	for _, i := range t.order {
		o := &objects[i]
		o.track = t.nearest(objects, o, known, at, dt)
		if o.track >= 0 {
			if k := &t.tracks[o.track]; k.main < 0 {
				k.main = i
			}
			continue
		}
		if len(t.tracks) < maxTracks && 8*o.fore >= o.moved {
			t.tracks = append(t.tracks, track{first: wall, strongAt: at, bornAt: at, box: o.place(), size: o.moved, main: i})
			o.track = len(t.tracks) - 1
		}
	}
}

// wake tells whether an object is only where something small was a moment ago, and is no more: what flies, and does not walk, is away from its wake. Only
// what is larger may have such parts.
func (o *object) wake(small int) bool { return o.moved < small && o.gone == 0 && 8*o.fore < o.moved }

// place is where an object moves.
func (o *object) place() rect {
	if o.box.empty() {
		return o.whole
	}
	return o.box
}

// nearest is the track that an object belongs to: one that was near, or that has a larger part of the same thing in this picture. It is -1 without.
func (t *tracker) nearest(objects []object, o *object, known int, at, dt time.Duration) int {
	box, wake := o.place(), o.wake(t.small)
	best, bestGap := -1, 1<<30
	for i := range t.tracks {
		k := &t.tracks[i]
		if wake && k.cells < float64(t.small) {
			continue
		}
		if i >= known && t.fall.all <= flurry {
			continue
		}
		if !k.confirmed && float64(o.size()) > 4*k.cells && at-k.bornAt > time.Second && i < known {
			continue // something else that flutters has been there all the time
		}
		from := k.box
		if k.main >= 0 && t.fall.all > flurry {
			from = objects[k.main].place()
		}
		gap, reach := distance(from, box)
		switch {
		case t.fall.all <= flurry:
		case k.main >= 0 && shred*o.size() < objects[k.main].size():
			reach = shredReach
		case k.main >= 0:
			reach = 3
		case k.linked > aheadAfter && (float64(o.size()) > alike*k.typical || alike*float64(o.size()) < k.typical) && at-k.seenAt <= 2*dt:
			continue
		}
		if (k.main < 0 || t.fall.all <= flurry) && t.leaps(k, o, at, dt) {
			reach = 1 << 29
		}
		if gap <= reach && (gap < bestGap || gap == bestGap && k.outranks(&t.tracks[best])) {
			best, bestGap = i, gap
		}
	}
	return best
}

// outranks tells whether what is at the place of both tracks is rather k's: shadows come before a thing, and crumbs of it fall off.
func (k *track) outranks(other *track) bool {
	if k.confirmed != other.confirmed {
		return k.confirmed
	}
	return k.strong > other.strong
}

// leaps tells whether the object may be a young track's next picture, wherever it is: a car close to the camera is only seen in a few pictures, and each
// time somewhere else. That it goes straight on is asked when it is confirmed.
func (t *tracker) leaps(k *track, o *object, at, dt time.Duration) bool {
	return k.linked <= 3 && o.fore >= t.small && k.size >= t.small && k.seenAt < at && at-k.seenAt <= max(shortLag, dt)*3/2 && 3*o.moved > k.size && 3*k.size > o.moved
}

// distance is how far two boxes are apart, in cells (0 when they overlap), and how far they may be to be the same thing: a fast
// thing is seen as far away as it is large.
func distance(a, b rect) (gap, reach int) {
	dx := max(0, a.left-b.right, b.left-a.right)
	dy := max(0, a.top-b.bottom, b.top-a.bottom)
	size := max(min(a.right-a.left, a.bottom-a.top), min(b.right-b.left, b.bottom-b.top))
	return max(dx, dy), 3 + size
}
