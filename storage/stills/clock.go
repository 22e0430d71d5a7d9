package stills

import "time"

// Clock tells the time twice: as the wall clock shows it, which may be wrong and step, and how long the process has been
// running, which only grows.
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
	// steadyFor is how long the wall clock must have run without a step before anything is dropped for its age: a box
	// without a battery may show any time until it has asked a time server.
	steadyFor = time.Hour
	// stepLeast is by how much the wall clock and the uptime must part to be a step; less is a clock that is being slewed.
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

// age is for how long a segment has been full. One that an earlier process filled counts by the wall clock; a time in the
// future counts as now.
func (s *segment) age(wall time.Time, up time.Duration) time.Duration {
	switch {
	case s.sealedUp > 0:
		return up - s.sealedUp
	case s.sealedAt == 0:
		return 0
	}
	return max(0, wall.Sub(time.Unix(0, s.sealedAt)))
}

// expire drops the segments all of whose stills are older than MaxAge, and closes a segment that is being written for so
// long that it would keep old ones. appendMu is held.
func (r *Ring) expire() {
	wall, up := r.clock()
	isSteady := r.steady.look(wall, up)
	if r.opts.MaxAge <= 0 || !isSteady {
		return
	}
	for _, l := range r.lanes {
		if l.file != nil && up-l.began > r.opts.MaxAge/4 && l.pos > blockBytes {
			r.retire(l)
		}
	}
	// A segment is at least as old as those that were begun after it: a clock that was ahead when it was filled does not
	// keep it.
	var age time.Duration
	var old []*segment
	for i := len(r.segments) - 1; i >= 0; i-- {
		s := r.segments[i]
		if r.isActive(s) {
			continue
		}
		if age = max(age, s.age(wall, up)); age > r.opts.MaxAge {
			old = append(old, s)
		}
	}
	for i := len(old) - 1; i >= 0 && len(old)-i <= expireAtOnce; i-- {
		if err := r.drop(old[i]); err == nil {
			r.stats.expired.Add(1)
		} else if r.hopeless(err) {
			return
		}
	}
}

// expireAtOnce bounds how long a tick holds up an Append.
const expireAtOnce = 16
