package clock

import "time"

// maxKnots is how many steps of the clock are remembered. A time from before the oldest one is
// taken as of right after it.
const maxKnots = 64

// leapMost is the longest step back that is made by going slower for a while, so that times keep
// their order: a leap second, with room. After a longer one, times repeat.
const leapMost = 2 * time.Second

// slowness is how much slower the true time goes then.
const slowness = 40

// scale says which true time belongs to a moment of the scale. The zero value says that they are
// the same. Everything is in whole milliseconds, so that times cut to the millisecond before or
// after are the same.
type scale struct{ knots []knot }

// knot is a step: from the moment at on, the scale is by behind the true time.
type knot struct {
	at    time.Time
	by    time.Duration
	joins bool      // it was a small step back:
	from  time.Time // the true time goes on from here, slowly
}

// at is the true time of t.
func (s *scale) at(t time.Time) time.Time {
	if len(s.knots) == 0 {
		return t
	}
	i := len(s.knots) - 1
	for i > 0 && t.Before(s.knots[i].at) {
		i--
	}
	k := s.knots[i]
	out := t.Add(k.by)
	if k.joins && !t.Before(k.at) {
		if slow := k.from.Add(t.Sub(k.at) / slowness); out.Before(slow) {
			out = slow
		}
	}
	return out
}

// by is how far the scale is behind the true time now.
func (s *scale) by() time.Duration {
	if len(s.knots) == 0 {
		return 0
	}
	return s.knots[len(s.knots)-1].by
}

// set says that all times of the scale were wrong by the same.
func (s *scale) set(by time.Duration) { s.knots = []knot{{by: by.Round(time.Millisecond)}} }

// step says that from a moment on the scale is further behind by more.
func (s *scale) step(at time.Time, more time.Duration) {
	more = more.Round(time.Millisecond)
	if len(s.knots) == 0 {
		s.knots = []knot{{}}
	}
	k := knot{at: at, by: s.by() + more}
	if more < 0 && -more <= leapMost {
		k.joins, k.from = true, s.at(at)
	}
	s.knots = append(s.knots, k)
	if len(s.knots) > maxKnots {
		s.knots = append([]knot{}, s.knots[1:]...)
	}
}
