package stills

import (
	"time"

	"vmsbridge/storage/stills/segment"
)

// The ring is shared among cameras by accounts, which say into which lane a camera's next still
// goes. They do sums, and know neither files nor a clock.
//
// The ring has two lanes, each a sequence of segments of its own. A camera's stills go into the
// quiet lane as long as it stays within its day's share, and those beyond into the loud one. When
// room is needed, the oldest segment of all goes, but for one case: a segment of the quiet lane
// that was filled less than a day ago stays, and the oldest of the loud lane goes, as long as the
// quiet lane takes no more than half of the ring (victim.go).
//
// So a camera that stores no more than MaxBytes / (4 · cameras) within any 24 hours keeps its last
// day, whatever the others store: no more than half of the ring is written to the quiet lane in any
// 24 hours (each account lets through a full quota at once and another one in the course of a day),
// and half of the ring the quiet lane keeps. A camera that stores more keeps its newest stills in
// the loud lane, and of the day before those that its quota let through, evenly spread. No still is
// ever written twice.

// fairSegments is how many segments a ring must hold to be split; a smaller one has only the quiet
// lane.
const fairSegments = 8

// accounts keeps each camera's account: newAccounts(4<<30, 16<<20, 5).lane(camera, size, uptime).
// It is not safe for concurrent use.
type accounts struct {
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

// newAccounts is the accounts of a ring of at most maxBytes in segments of segmentBytes, and of so
// many cameras; if more store stills than that, they count.
func newAccounts(maxBytes, segmentBytes int64, cameras int) accounts {
	return accounts{half: maxBytes / 2, cameras: cameras, on: maxBytes/segmentBytes >= fairSegments,
		account: map[string]*account{}}
}

// quota is what a camera may store in the quiet lane at once, and again in the course of a day.
func (s *accounts) quota() float64 {
	return float64(s.half) / 2 / float64(max(s.cameras, len(s.account), 1))
}

// lane is the one that a camera's next still of size bytes goes to at the uptime up, and takes it
// down there.
func (s *accounts) lane(camera string, size uint32, up time.Duration) int {
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
		return segment.Loud
	}
	a.debt = min(a.debt+float64(size), 2*quota+float64(size))
	return segment.Quiet
}

// forgive closes the accounts of cameras that have stored nothing for a day.
func (s *accounts) forgive(up time.Duration) {
	for camera, a := range s.account {
		if up-a.at >= day {
			delete(s.account, camera)
		}
	}
}

// remember takes a segment of the quiet lane that an earlier process filled, and how long ago that
// was.
func (s *accounts) remember(x *segment.Listing, age, up time.Duration) {
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
