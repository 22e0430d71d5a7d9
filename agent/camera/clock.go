package camera

import "time"

// clockJump is how far the wall clock may move against the monotonic one before it counts as set rather than adjusted.
const (
	clockJump     = 500 * time.Millisecond
	clockJumpBack = 10 * time.Second
)

// clockStep says that the machine's clock was set between two readings.
type clockStep int

const (
	stepNone clockStep = iota
	stepForward
	stepBack
)

// wallClock gives wall time that does not jump about: it follows the monotonic clock, and the wall clock beside it. Set
// forward, it follows at once. Set back by up to 10 s, it runs 5 % slow until both agree, so that times never repeat. Set
// back further, it follows at once and says so.
// It is not safe for concurrent use.
type wallClock struct {
	read  func() (wall time.Time, mono time.Duration)
	began bool
	shift time.Duration // wall - mono as handed out
	last  time.Duration
}

// newWallClock follows the machine's clock, or now, which never steps, if that is not nil.
func newWallClock(now func() time.Time) *wallClock {
	if now != nil {
		base := now()
		return &wallClock{read: func() (time.Time, time.Duration) {
			t := now()
			return t, t.Sub(base)
		}}
	}
	base := time.Now()
	return &wallClock{read: func() (time.Time, time.Duration) {
		t := time.Now()
		return t, t.Sub(base)
	}}
}

// now returns nanoseconds since 1970.
func (c *wallClock) now() (int64, clockStep) {
	wall, mono := c.read()
	want := time.Duration(wall.UnixNano()) - mono
	step := stepNone
	diff := want - c.shift
	switch {
	case !c.began:
		c.began, c.shift = true, want
	case diff >= clockJump:
		c.shift, step = want, stepForward
	case diff <= -clockJumpBack:
		c.shift, step = want, stepBack
	default:
		limit := (mono - c.last) / 20
		c.shift += min(max(diff, -limit), limit)
	}
	c.last = mono
	return int64(mono + c.shift), step
}
