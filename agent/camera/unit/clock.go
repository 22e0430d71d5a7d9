package unit

import "time"

// clockJump is how far the wall clock may move against the monotonic one before it counts as set
// rather than adjusted.
const (
	clockJump     = 500 * time.Millisecond
	clockJumpBack = 10 * time.Second
)

// Step says whether the machine's clock was set between two readings.
type Step int

const (
	Steady Step = iota
	SetForward
	SetBack
)

// Clock gives wall time that does not jump about: it follows the monotonic clock, and the wall
// clock beside it. Set forward, it follows at once. Set back by up to 10 s, it runs 5 % slow until
// both agree, so that times never repeat. Set back further, it follows at once and says so. It is
// not safe for concurrent use.
type Clock struct {
	read  func() (wall time.Time, mono time.Duration)
	began bool
	shift time.Duration // wall - mono as handed out
	last  time.Duration
}

// NewClock follows the machine's clock, or now, which never steps, if that is not nil.
func NewClock(now func() time.Time) *Clock {
	if now == nil {
		now = time.Now
	}
	base := now()
	return Follow(func() (time.Time, time.Duration) {
		t := now()
		return t, t.Sub(base)
	})
}

// Follow follows a wall clock that is read together with one that is never set.
func Follow(read func() (wall time.Time, mono time.Duration)) *Clock {
	return &Clock{read: read}
}

// Now returns nanoseconds since 1970.
func (c *Clock) Now() (int64, Step) {
	wall, mono := c.read()
	want := time.Duration(wall.UnixNano()) - mono
	step := Steady
	diff := want - c.shift
	switch {
	case !c.began:
		c.began, c.shift = true, want
	case diff >= clockJump:
		c.shift, step = want, SetForward
	case diff <= -clockJumpBack:
		c.shift, step = want, SetBack
	default:
		limit := (mono - c.last) / 20
		c.shift += min(max(diff, -limit), limit)
	}
	c.last = mono
	return int64(mono + c.shift), step
}
