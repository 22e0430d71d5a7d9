package track

import (
	"math"
	"time"
)

// What the way of a track says of what it is.
const (
	minTravel = 1.5 // cells that anything must go to be confirmed
	minWay    = 0.2 // of the square root of its area, likewise
	// of the square root of its area, that it must go within some time not to dwell
	dwellWay = 0.5
	straight = 0.5 // share of its way by which it must be away from where it began
	// of the square root of its area, that anything must go while the scene is young
	youngWay      = 0.6
	youngStraight = 0.7 // share of its way, likewise
)

// wayFade is the time, in seconds, over which it is looked at where a track goes.
const wayFade = 1.5

// travel keeps where the track's motion is, smoothed over a fifth of a second, and how far it went
// on its way there.
func (k *Track) travel(moved, size, x, y int, at, dt time.Duration) {
	if moved == 0 {
		return
	}
	cx, cy := float64(x)/float64(moved), float64(y)/float64(moved)
	if k.cells == 0 {
		k.cells = 1
		k.fromX, k.fromY, k.nowX, k.nowY = cx, cy, cx, cy
		k.anchorX, k.anchorY, k.anchorAt = cx, cy, at
	}
	fade := math.Exp(-dt.Seconds() / wayFade)
	k.cells = max(k.cells*fade, float64(size))
	if k.typical == 0 {
		k.typical = float64(size)
	}
	k.typical += (float64(size) - k.typical) * (1 - math.Exp(-dt.Seconds()/aheadFade))
	k.fromX, k.fromY, k.way = k.nowX+(k.fromX-k.nowX)*fade, k.nowY+(k.fromY-k.nowY)*fade, k.way*fade
	share := 1 - math.Exp(-dt.Seconds()/0.2)
	dx, dy := share*(cx-k.nowX), share*(cy-k.nowY)
	k.nowX, k.nowY = k.nowX+dx, k.nowY+dy
	k.way += math.Hypot(dx, dy)
	if math.Hypot(k.nowX-k.anchorX, k.nowY-k.anchorY) > max(minTravel, dwellWay*math.Sqrt(k.cells)) {
		k.anchorX, k.anchorY, k.anchorAt, k.left = k.nowX, k.nowY, at, true
	}
}

// Passes tells whether the track is of something on its way: it moves, has left where it began, and
// has not dwelt in one place for longer than dwells.
func (k *Track) Passes(at, dwells time.Duration) bool {
	return k.Live && k.left && at-k.anchorAt < dwells
}

// Largest is the size, in cells, of the largest part that was seen of the track lately.
func (k *Track) Largest() float64 { return k.cells }

// away is how far the track is from where it was some time ago, in cells.
func (k *Track) away() float64 { return math.Hypot(k.nowX-k.fromX, k.nowY-k.fromY) }

// Travelled tells whether the track went anywhere. What sways or flickers in its place, such as a
// tree or the digits of a clock, goes to and fro.
func (k *Track) Travelled() bool {
	d := k.away()
	return d >= minTravel && d >= minWay*math.Sqrt(k.cells) && d >= straight*k.way
}

// leaves tells whether the track goes far: what moved when the detector began, such as a tree or a
// flag, is not known yet for what it is.
func (k *Track) leaves() bool {
	d := k.away()
	return d >= youngWay*math.Sqrt(k.cells) && d >= youngStraight*k.way
}
