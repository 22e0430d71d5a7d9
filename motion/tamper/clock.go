package tamper

import "time"

// A clock that is burnt into the picture.
const (
	beatsEnough = 15                     // in a row
	beatSlip    = 350 * time.Millisecond // that a beat may be early or late, against the first of them
)

// tick follows places that change once a second while nothing else does: what an encoder refines
// after a keyframe, and where more than a clock changes, is no beat.
func (s *stillness) tick(at time.Time, changed int, fresh bool) {
	if fresh {
		s.freshAt = s.at
		s.frozen = s.frozen && !(s.clock && s.run >= 2*slot)
	}
	for b := range s.changed {
		if fresh {
			s.paused[b] = true
			if s.run >= slot { // too much is going on to see a clock: its time stands still
				s.onset[b] = s.at
				s.beatAt = at
			}
			continue
		}
		if !s.changed[b] || s.previous[b] {
			continue
		}
		if s.frozen && s.clock {
			s.frozen = false
		}
		if s.at-s.freshAt < slot/2 {
			continue
		}
		if changed > 2*clockTiles {
			s.onset[b], s.paused[b] = s.at, false
			continue
		}
		d := s.at - s.onset[b]
		off := (d+slot/2)%slot - slot/2
		switch {
		case d < slot*7/2 && d > slot/2 && (s.slip[b]+off).Abs() <= beatSlip && (d < slot*3/2 || s.paused[b]):
			s.beats[b] = min(s.beats[b]+1, 1000)
			s.slip[b] += off
		default:
			s.beats[b], s.slip[b] = 0, 0
		}
		if s.beats[b] >= beatsEnough {
			s.beatAt = at
		}
		s.onset[b], s.paused[b] = s.at, false
	}
}

// stopped tells whether a clock in the picture stopped.
func (s *stillness) stopped(at time.Time) (bool, time.Time) {
	for b := range s.beats {
		if s.beats[b] < beatsEnough {
			continue
		}
		if s.at-s.onset[b] < stillFor+slot {
			return false, time.Time{} // another one may do it, or none
		}
	}
	for b := range s.beats {
		if s.beats[b] >= beatsEnough {
			s.frozen, s.clock, s.since = true, true, s.beatAt
			return true, s.since
		}
	}
	return false, time.Time{}
}
