package track

import "time"

// What a track's way says of when it began.
const (
	startBack   = 2500 * time.Millisecond // how far a span's start may lie before what confirmed it
	lookBack    = 500 * time.Millisecond  // the same of what crept before, and of what had only begun to move
	trailLength = 64                      // pictures that the look back can reach: startBack at 25 a second
	// of a thing's contrast, below which a change may be its shadow, which runs ahead of it
	shadowShare = 0.35
	// the same of what reaches as high up as the thing: an arm, the edge of a coat
	limbShare = 0.15
	// times less than the height of the thing, and a cell, that its top may be off
	limbOff    = 10
	limbFor    = 300 * time.Millisecond // before the thing itself is seen, in which it may be its limb
	unseenFor  = 150 * time.Millisecond // between two sights, after which it is another thing that was seen before
	sameShare  = 0.7                    // of a thing's contrast, that it must have had before that to be the same
	wornBefore = 0.5                    // s
)

// sight is one picture of a track.
type sight struct {
	at          time.Duration
	unseen      time.Duration // before that, in pictures that did not show it
	wall        time.Time
	contrast    float32 // how much what moved differs, 1/256 grey levels
	top, bottom int16   // of what moved, in cells
	fore        int32   // cells that differ from the background
	worn        float32 // how long its places have been moving, in seconds
}

// trail is the newest sights of a track.
type trail struct {
	sights [trailLength]sight
	n      int // how many there were, which may be more
}

// add adds the newest one, dt after the picture before.
func (t *trail) add(s sight, dt time.Duration) {
	if t.n > 0 {
		s.unseen = s.at - t.last(1).at - dt
	}
	t.sights[t.n%trailLength] = s
	t.n++
}

// last is the i-th newest sight, from 1.
func (t *trail) last(i int) *sight { return &t.sights[(t.n-i)%trailLength] }

// back is how far the start of a track may lie before at: as far as it is known, early in a scene.
func (t *Tracker) back(at, usual time.Duration) time.Duration {
	if t.Early && t.change.scene {
		return max(usual, at-t.change.over)
	}
	return usual
}

// kept is how many sights are known.
func (t *trail) kept() int { return min(t.n, trailLength) }

// begin is the time of the first picture, at most back before at, which shows the thing: with its
// contrast or, where it reaches as high up and is no larger, with a part of that; a shadow does
// not, nor what sways where it always did. What was seen some time before must be as clear as
// itself. There must be one sight.
func (t *trail) begin(at, back time.Duration, contrast float64) time.Time {
	newest := t.last(1)
	found, thing, parted := newest.wall, newest, false
	for i := 1; i <= t.kept(); i++ {
		s := t.last(i)
		if at-s.at > back || s.worn > newest.worn+wornBefore {
			break
		}
		share := float64(s.contrast) / contrast
		switch {
		case share >= sameShare, share >= shadowShare && !parted:
			found, thing, parted = s.wall, s, false
		case share >= limbShare && !parted && thing.at-s.at <= limbFor &&
			limbOff*(max(s.top-thing.top, thing.top-s.top)-1) <= thing.bottom-thing.top && s.fore <= thing.fore:
			found = s.wall
		}
		parted = parted || s.unseen > unseenFor
	}
	return found
}
