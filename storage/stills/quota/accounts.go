package quota

import (
	"time"

	"vmsbridge/storage/stills/form"
)

const day = 24 * time.Hour

// fairSegments is how many segments a ring must hold to be split; a smaller one has only the quiet
// lane.
const fairSegments = 8

// Accounts keeps each camera's account. It is not safe for concurrent use.
type Accounts struct {
	half    int64 // of the ring's bytes
	cameras int   // at least
	on      bool  // the ring is large enough for two lanes
	account map[string]*account
}

// account is what a camera stored in the quiet lane, less what time forgave: a quota a day.
type account struct {
	debt float64
	at   time.Duration // uptime of debt
}

// New is the accounts of a ring of at most maxBytes in segments of segmentBytes, and of so many
// cameras; if more store stills than that, they count.
func New(maxBytes, segmentBytes int64, cameras int) Accounts {
	return Accounts{half: maxBytes / 2, cameras: cameras, on: maxBytes/segmentBytes >= fairSegments,
		account: map[string]*account{}}
}

// quota is what a camera may store in the quiet lane at once, and again in the course of a day.
func (s *Accounts) quota() float64 {
	return float64(s.half) / 2 / float64(max(s.cameras, len(s.account), 1))
}

// Lane is the one that a camera's next still of size bytes goes to at the uptime up, and takes it
// down there.
func (s *Accounts) Lane(camera string, size uint32, up time.Duration) int {
	a := s.account[camera]
	if a == nil {
		s.forgive(up)
		a = &account{at: up}
		s.account[camera] = a
	}
	quota := s.quota()
	a.debt = max(0, a.debt-quota*float64(up-a.at)/float64(day))
	a.at = up
	// One more than the quota is let through, so that large stills get their turn beside small
	// ones. A camera alone has nobody to push out.
	if s.on && a.debt >= quota && max(s.cameras, len(s.account)) > 1 {
		return form.Loud
	}
	a.debt = min(a.debt+float64(size), 2*quota+float64(size))
	return form.Quiet
}

// forgive closes the accounts of cameras that have stored nothing for a day.
func (s *Accounts) forgive(up time.Duration) {
	for camera, a := range s.account {
		if up-a.at >= day {
			delete(s.account, camera)
		}
	}
}

// Remember takes a segment of the quiet lane that an earlier process filled, and how long ago that
// was.
func (s *Accounts) Remember(x *form.Listing, age, up time.Duration) {
	if age >= day {
		return
	}
	for _, r := range x.Runs {
		var n uint64
		for _, e := range x.List[r.Lo:r.Hi] {
			n += uint64(e.Size)
		}
		a := s.account[r.Key.Camera]
		if a == nil {
			a = &account{at: up}
			s.account[r.Key.Camera] = a
		}
		a.debt += float64(n) * float64(day-age) / float64(day)
	}
}
