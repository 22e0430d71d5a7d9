package stills

import (
	"slices"
	"time"
)

// The ring has two lanes, each a sequence of segments of its own. A camera's stills go into the quiet lane as long as it
// stays within its day's share, and those beyond into the loud one. When room is needed, the oldest segment of all goes,
// but for one case: a segment of the quiet lane that was filled less than a day ago stays, and the oldest of the loud lane
// goes, as long as the quiet lane takes no more than half of the ring.
//
// So a camera that stores no more than MaxBytes / (4 · cameras) within any 24 hours keeps its last day, whatever the others
// store: no more than half of the ring is written to the quiet lane in any 24 hours (each account lets through a full quota
// at once and another one in the course of a day), and half of the ring the quiet lane keeps. A camera that stores more
// keeps its newest stills in the loud lane, and of the day before those that its quota let through, evenly spread. No still
// is ever written twice.
const (
	quiet = iota
	loud
	lanes
)

// fairSegments is how many segments a ring must hold to be split; a smaller one has only the quiet lane.
const fairSegments = 8

// share keeps each camera's account. Ring.appendMu guards it.
type share struct {
	half    int64 // of MaxBytes
	cameras int   // at least
	on      bool
	account map[string]*account
}

// account is what a camera stored in the quiet lane, less what time forgave: a quota a day.
type account struct {
	debt float64
	at   time.Duration // uptime of debt
}

func newShare(o Options) share {
	return share{half: o.MaxBytes / 2, cameras: o.Cameras, on: o.MaxBytes/o.SegmentBytes >= fairSegments, account: map[string]*account{}}
}

// quota is what a camera may store in the quiet lane at once, and again in the course of a day.
func (s *share) quota() float64 {
	return float64(s.half) / 2 / float64(max(s.cameras, len(s.account), 1))
}

// lane is the one that a camera's next still goes to, and takes it down there.
func (s *share) lane(camera string, size uint32, up time.Duration) int {
	a := s.account[camera]
	if a == nil {
		s.forgive(up)
		a = &account{at: up}
		s.account[camera] = a
	}
	quota := s.quota()
	a.debt = max(0, a.debt-quota*float64(up-a.at)/float64(day))
	a.at = up
	// One more than the quota is let through, so that large stills get their turn beside small ones. A camera alone has
	// nobody to push out.
	if s.on && a.debt >= quota && max(s.cameras, len(s.account)) > 1 {
		return loud
	}
	a.debt = min(a.debt+float64(size), 2*quota+float64(size))
	return quiet
}

// forgive closes the accounts of cameras that have stored nothing for a day.
func (s *share) forgive(up time.Duration) {
	for camera, a := range s.account {
		if up-a.at >= day {
			delete(s.account, camera)
		}
	}
}

// remember takes a segment of the quiet lane that an earlier process filled.
func (s *share) remember(x *listing, age, up time.Duration) {
	if age >= day {
		return
	}
	for _, r := range x.runs {
		var n uint64
		for _, e := range x.list[r.lo:r.hi] {
			n += uint64(e.size)
		}
		a := s.account[r.key.camera]
		if a == nil {
			a = &account{at: up}
			s.account[r.key.camera] = a
		}
		a.debt += float64(n) * float64(day-age) / float64(day)
	}
}

// victim is the segment that goes next, nil if there is none but those that are stuck. appendMu is held.
func (r *Ring) victim(stuck ...*segment) *segment {
	var oldest, oldestLoud *segment
	var total, quietBytes int64
	for _, s := range r.segments {
		total += s.size
		if s.lane == quiet {
			quietBytes += s.size
		}
		if r.isActive(s) || slices.Contains(stuck, s) {
			continue
		}
		if s.dead {
			return s
		}
		if oldest == nil {
			oldest = s
		}
		if s.lane == loud && oldestLoud == nil {
			oldestLoud = s
		}
	}
	if oldest == nil || oldestLoud == nil || oldest.lane == loud || quietBytes > min(total, r.opts.MaxBytes)/2 {
		return oldest
	}
	if wall, up := r.clock(); oldest.age(wall, up) >= day {
		return oldest
	}
	return oldestLoud
}
