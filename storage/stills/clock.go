package stills

import "time"

// Clock tells the time twice: as the wall clock shows it, which may be wrong and step, and how long
// the process has been running, which only grows.
type Clock func() (wall time.Time, up time.Duration)

// systemClock is the machine's, from now on.
func systemClock() Clock {
	began := time.Now()
	return func() (time.Time, time.Duration) {
		now := time.Now()
		return now.Round(0), now.Sub(began) // Sub is by the monotonic clock
	}
}

const (
	day = 24 * time.Hour
	// steadyFor is how long the wall clock must have run without a step before anything is dropped
	// for its age: a box without a battery may show any time until it has asked a time server.
	steadyFor = time.Hour
	// stepLeast is by how much the wall clock and the uptime must part to be a step; less is a
	// clock that is being slewed.
	stepLeast = time.Minute
)

// steady watches for steps of the wall clock. Ring.appendMu guards it.
type steady struct {
	known  bool
	offset time.Duration // of the wall clock to the uptime, since 1970
	since  time.Duration // uptime of the last step, or of the first look
}

// look takes a reading, and says whether the clock has been steady for long enough.
func (s *steady) look(wall time.Time, up time.Duration) bool {
	offset := time.Duration(wall.UnixNano()) - up
	if d := offset - s.offset; !s.known || d > stepLeast || d < -stepLeast {
		s.known, s.offset, s.since = true, offset, up
	}
	return up-s.since >= steadyFor
}
