package rule

import (
	"math"
	"slices"
	"time"

	"vmsbridge/motion"
)

// All lengths are in heights of the picture, so that they mean the same in both directions.

// point is a place in the picture.
type point struct{ x, y float64 }

func (p point) minus(q point) point            { return point{p.x - q.x, p.y - q.y} }
func (p point) apart(q point) float64          { return math.Hypot(p.x-q.x, p.y-q.y) }
func (p point) plus(v point, by float64) point { return point{p.x + by*v.x, p.y + by*v.y} }
func cross(a, b point) float64                 { return a.x*b.y - a.y*b.x }

// rect is a box.
type rect struct{ left, top, right, bottom float64 }

func (r rect) wide() float64 { return r.right - r.left }
func (r rect) high() float64 { return r.bottom - r.top }
func (r rect) size() float64 { return max(r.wide(), r.high()) }
func (r rect) area() float64 { return max(0, r.wide()) * max(0, r.high()) }
func (r rect) foot() point   { return point{(r.left + r.right) / 2, r.bottom} }
func (r rect) middle() point { return point{(r.left + r.right) / 2, (r.top + r.bottom) / 2} }
func (r rect) grown(by float64) rect {
	return rect{r.left - by, r.top - by, r.right + by, r.bottom + by}
}
func (r rect) moved(v point) rect {
	return rect{r.left + v.x, r.top + v.y, r.right + v.x, r.bottom + v.y}
}
func (r rect) meet(o rect) rect {
	return rect{max(r.left, o.left), max(r.top, o.top), min(r.right, o.right), min(r.bottom, o.bottom)}
}

// wentFrom tells whether r is away from o: not only smaller or larger on one side, if it is not
// large.
func (r rect) wentFrom(o rect) bool {
	both := func(a, b float64) float64 {
		if a > 0 == (b > 0) {
			return min(math.Abs(a), math.Abs(b))
		}
		return 0
	}
	x, y := both(r.left-o.left, r.right-o.right), both(r.top-o.top, r.bottom-o.bottom)
	return max(x, y) > ownLeast && (x > ownWay*r.wide() || y > ownWay*r.high()) ||
		r.area() > large && r.middle().apart(o.middle()) > ownGrows*r.size()
}

func (r rect) union(o rect) rect {
	return rect{min(r.left, o.left), min(r.top, o.top), max(r.right, o.right), max(r.bottom, o.bottom)}
}

const (
	footFade = 0.12 // seconds, over which the foot is smoothed: one picture of ten in a second weighs a half
	// of its width or height, and at least, that a thing goes with both sides to be told of
	ownWay, ownLeast = 0.4, 0.08
	// the same of the middle of something large: who comes in from below grows into the picture
	ownGrows = 0.25
	// without going anywhere since it was first seen, after which a thing begins anew when it goes
	standsUnseen = 4 * time.Second
	// after it came to the left or right border, for which its lower edge is not its foot: less and
	// less is seen of who leaves
	leavesIn    = 2500 * time.Millisecond
	torn        = 2    // times as large as in the picture before, at most, that it is to have gone anywhere
	large       = 0.02 // of an area, that grows as it comes in: two people in three hundred
	typicalFade = 1.0  // seconds, over which its size is smoothed
	trailFade   = 0.7  // seconds, over which it is looked at where a thing comes from
	// pictures in which a thing was seen by itself, from which its speed is known
	knownAfter = 3
	sureAfter  = 10                     // the same, to go on behind or before another
	lostAfter  = 700 * time.Millisecond // without being seen, after which a thing on its way is gone
	hiddenFor  = 3 * time.Second        // behind or before another, likewise
	// how far the foot must be from a line or an outline, as a share of the thing's smaller side
	// and at least, to be clear of it: who stands on it sways
	clearBy, clearLeast = 0.15, 0.012
)

// path is one thing over the pictures: where its foot is, the middle of its lower edge.
type path struct {
	object   string // "" until the detector says that it is motion
	box      rect   // of its last picture, or where it is expected since
	last     rect   // its box of its last picture
	foot     point  // smoothed
	was      point  // the foot, when lines were last held against it, at wasAt
	born     rect
	bornAt   time.Duration
	steady   int     // pictures since born, in which its size hardly changed
	typical  float64 // its area, smoothed
	trail    point   // where the foot was a moment ago, on the mean
	speed    point   // of the foot, heights in a second
	pictures int     // in which it was seen by itself
	seenAt   time.Duration
	wasAt    time.Duration
	first    float64       // its area when it was first seen
	whole    int           // pictures in which neither the left nor the right border cut it
	leaves   bool          // it may be on its way out there
	besideAt time.Duration // since when one of them does
	hidden   time.Duration // for how long it has been one with another; 0: it is not
	own      bool          // it went somewhere by itself
	stands   bool          // in an area, when it was last seen
	lines    []atLine
	areas    []atArea
}

// expect moves the path to where it should be now.
func (k *path) expect(dt float64) {
	if k.stands {
		return
	}
	step := point{k.speed.x * dt, k.speed.y * dt}
	k.foot, k.box = k.foot.plus(step, 1), k.box.moved(step)
}

// see takes what was seen of the thing in one picture, dt seconds after the one before. Cut says
// that the border of the picture cuts it, and beside that it is the left or the right one.
func (k *path) see(b rect, cut, beside bool, at time.Duration, dt float64) {
	before := k.box.area()
	k.box, k.last, k.seenAt, k.hidden = b, b, at, 0
	foot := b.foot()
	if k.pictures++; k.pictures == 1 {
		k.foot, k.was, k.wasAt, k.trail = foot, foot, at, foot
		k.born, k.bornAt, k.typical = b, at, b.area()
		k.first = b.area()
		return
	}
	// An alpha-beta filter: it does not lag behind what goes on evenly.
	alpha := 1 - math.Exp(-dt/footFade)
	beta := alpha * alpha / (2 - alpha)
	if k.pictures <= knownAfter {
		alpha, beta = 1, 1/float64(k.pictures-1)
	}
	if k.leaves = k.leaving(beside, at); k.leaves {
		foot.y = k.foot.y
	}
	off := foot.minus(k.foot)
	k.foot, k.speed = k.foot.plus(off, alpha), k.speed.plus(off, beta/dt)
	k.trail = k.trail.plus(k.foot.minus(k.trail), 1-math.Exp(-dt/trailFade))
	if r := b.area() / max(before, 1e-9); !k.own && (r > torn || r*torn < 1) && !(cut && b.area() > large) {
		k.born, k.steady = b, 0
	}
	k.steady++
	k.typical += (b.area() - k.typical) * (1 - math.Exp(-dt/typicalFade))
	if !k.own && k.steady > knownAfter && b.wentFrom(k.born) {
		k.own = true
		if at-k.bornAt > standsUnseen { // nobody knows what it was up to then
			clear(k.lines)
			clear(k.areas)
		}
	}
}

// leaving tells whether the thing may be on its way out of the picture to one side.
func (k *path) leaving(beside bool, at time.Duration) bool {
	if !beside {
		k.whole++
		k.besideAt = at
	}
	return beside && k.whole > knownAfter && at-k.besideAt < leavesIn
}

// hide keeps the path where it is expected, within what hides it.
func (k *path) hide(behind rect, at, dt time.Duration) {
	k.seenAt, k.hidden = at, k.hidden+dt
	within := func(from, to, least, most float64) float64 {
		return min(max(from, least), max(least, most-(to-from))) - from
	}
	into := point{within(k.box.left, k.box.right, behind.left, behind.right),
		within(k.box.top, k.box.bottom, behind.top, behind.bottom)}
	k.box, k.foot = k.box.moved(into), k.foot.plus(into, 1)
}

// gone tells whether the thing has left.
func (k *path) gone(at time.Duration) bool {
	if k.stands {
		return at-k.seenAt > standsFor
	}
	return at-k.seenAt > lostAfter || k.hidden > hiddenFor
}

// clear is how far from a line or an outline its foot must be to be on one side of it.
func (k *path) clear() float64 { return max(clearLeast, clearBy*min(k.box.wide(), k.box.high())) }

// rest notes whether the thing stands in an area, in a picture in which it was seen.
func (k *path) rest() {
	k.stands = k.counts() && math.Hypot(k.speed.x, k.speed.y) < standsBy*k.box.size() &&
		slices.ContainsFunc(k.areas, func(s atArea) bool { return s.inside })
}

// counts tells whether what the path does is told: it is of something that the detector knows for
// motion, and that went somewhere, as no crumb of another thing does; while another hides it, only
// if it was seen for long before.
func (k *path) counts() bool {
	return k.object != "" && k.own && (k.hidden == 0 || k.pictures >= sureAfter)
}

// inPicture is the box in fractions of a picture of the aspect, width by height.
func (r rect) inPicture(aspect float64) motion.Box {
	clamp := func(v float64) float64 { return min(max(v, 0), 1) }
	return motion.Box{Left: clamp(r.left / aspect), Top: clamp(r.top), Right: clamp(r.right / aspect),
		Bottom: clamp(r.bottom)}
}
