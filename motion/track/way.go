package track

import (
	"math"
	"time"
)

// What the way of a track says of what it is.
const (
	confirmCreep = 1500 * time.Millisecond // of a slow advance
	minTravel    = 1.5                     // cells that anything must go to be confirmed
	minWay       = 0.2                     // of the square root of its area, likewise
	// of the square root of its area, that it must go within some time not to dwell
	dwellWay = 0.5
	straight = 0.5 // share of its way by which it must be away from where it began
	// of the square root of its area, that anything must go while the scene is young
	youngWay      = 0.6
	youngStraight = 0.85                   // share of its way, likewise: of twigs it was 0.8
	onStraight    = 0.9                    // the same of what goes straight on, however far
	onFor         = 500 * time.Millisecond // of motion of that
	walkWay       = 0.45                   // of the square root of its area, that something small must go
	walkStraight  = 0.65                   // share of its way, likewise
	// of the time for which it moved, that the places in which it is have been moving at most
	walkWorn     = 0.6
	flapWorn     = 0.75 // the same of something middling
	flapStraight = 0.68 // share of its way by which that must be away
	// square roots of its area that such a thing goes in a second at most: a runner goes four, an
	// insect is faster
	fastSmall     = 5
	confirmWander = 1200 * time.Millisecond // of motion of something large that goes to and fro
	wanderCells   = 2                       // times what is small, that it is large at least
	wanderSteady  = 0.7                     // share of the pictures since it began, in which it moved beyond doubt
	wanderWorn    = 0.45                    // of that time, at most, that its places have been moving on the mean
	// the same while there is little memory of what always moves, for what gets nowhere, and
	// the more for what goes straight on: trees are at 0.39 with 0.8 of the way and at 0.37 with
	// 0.2 of it, people at 0.39 with 0.83 and at 0.13 with 0.27
	swayWorn = 0.12
	swayLine = 0.4
)

// wayFade is the time, in seconds, over which it is looked at where a track goes.
const wayFade = 1.5

// travel keeps where the track's motion is, smoothed over a fifth of a second, and how far it went
// on its way there.
func (k *Track) travel(moved, size int, x, y int64, at, dt time.Duration) {
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

// Contrast is how much what moved of the track differed lately, at most.
func (k *Track) Contrast() float64 { return k.contrast }

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

// flaps tells whether what is not large goes to and fro, or moves through places that have been
// moving for as long as itself.
func (k *Track) flaps() bool {
	d := k.away()
	return k.worn > flapWorn*max(k.strong, k.faint).Seconds() || d < flapStraight*k.way
}

// walks tells whether something small goes on its way, through places where nothing moved before.
// What flaps, such as a flag, stays where it has been moving all the time.
func (k *Track) walks() bool {
	d := k.away()
	return d >= walkWay*math.Sqrt(k.cells) && d >= walkStraight*k.way && k.worn <= walkWorn*k.strong.Seconds()
}

// leaves tells whether the track goes far or, if it is large, straight on for some time: what moved
// when the detector began, such as a tree or a flag, is not known yet for what it is.
func (k *Track) leaves(small int) bool {
	d, size := k.away(), math.Sqrt(k.cells)
	return d >= youngWay*size && d >= youngStraight*k.way ||
		d >= minWay*size && d >= onStraight*k.way && k.strong >= onFor && k.cells >= loomCells*float64(small)
}

// wanders tells whether something large has moved for so long, and each time somewhere else, that
// it is not a thing that always moves in its place: a hand at work, a dog, a child at play. The
// places that a tree or a flag moves through are always the same ones.
func (k *Track) wanders(t *Tracker) bool {
	if t.Early && k.sways() {
		return false
	}
	return k.strong >= confirmWander && k.strong.Seconds() >= wanderSteady*(k.strongAt-k.ranFrom).Seconds() &&
		k.cells >= wanderCells*float64(t.small) && k.worn <= wanderWorn*k.strong.Seconds()
}

// sways reports whether the track goes to and fro through places that have been moving, as a tree
// does: early, when it is not known yet what always moves, the straighter it goes the longer may
// its places have been moving.
func (k *Track) sways() bool {
	line := k.away() / max(k.way, 1e-9)
	return k.worn > (swayWorn+swayLine*line)*k.strong.Seconds()
}

// hurries tells whether the track goes further in a second than things of its size do: insects,
// flakes of snow and drops fly close to the lens.
func (k *Track) hurries(at time.Duration) bool {
	return k.way > fastSmall*math.Sqrt(k.cells)*wayFade*(1-math.Exp(-(at-k.bornAt).Seconds()/wayFade))
}

// follow sums up a slow advance: new ground taken all the time, and a centre that really moves.
func (k *Track) follow(creeps bool, fore int, x, y int64, small int, dt time.Duration) {
	if !creeps || fore == 0 {
		k.creep, k.creeping = 0, false
		return
	}
	if k.creep == 0 {
		k.creepX, k.creepY = float64(x)/float64(fore), float64(y)/float64(fore)
	}
	k.creep += dt
	dx, dy := float64(x)/float64(fore)-k.creepX, float64(y)/float64(fore)-k.creepY
	least := 0.06
	if k.cells < float64(small) {
		least = 0.25
	}
	if k.creep >= confirmCreep && dx*dx+dy*dy >= least*float64(fore) {
		k.creeping = true
	}
}
