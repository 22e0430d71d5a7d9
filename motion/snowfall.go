package motion

import "time"

// In a blizzard who walks is no larger than the flakes, and is soon hidden among them. A flake is
// in a place in one picture and gone in the next; so each cell is what most of its last three
// pictures show: their median. That costs one picture's time, which is taken off again, and what is
// in each place in one picture only: cars.
const (
	snowFalls = 20                      // small things that move at a time, from which pictures are taken together
	snowAfter = 1500 * time.Millisecond // for which they must fall
	snowCalm  = 10 * time.Second        // without, after which pictures are no longer taken together
	snowSpeck = 10 << 8                 // by which a cell differs from the others of its place when a flake is there
	snowShare = 0.002                   // of the cells, in which that is so in each picture while they fall
	snowStep  = 7                       // every such cell is looked at for that
)

// snowfall takes pictures together while much falls. Its zero value does not.
type snowfall struct {
	on    bool
	falls time.Duration // for how long much has been falling, or little while it is on
	raw   [3][]uint16   // the last pictures as they came
	walls [3]time.Time  // when they were taken
	head  int           // the newest
	count int           // of pictures kept
}

// clear forgets the pictures.
func (s *snowfall) clear() { s.count = 0 }

// resize prepares for pictures of another size.
func (s *snowfall) resize() { *s = snowfall{} }

// keep keeps a picture as it came.
func (s *snowfall) keep(cells []uint16, wall time.Time) {
	s.head = (s.head + 1) % len(s.raw)
	if len(s.raw[s.head]) != len(cells) {
		s.raw[s.head] = make([]uint16, len(cells))
	}
	copy(s.raw[s.head], cells)
	s.walls[s.head] = wall
	s.count = min(s.count+1, len(s.raw))
}

// run takes a picture, dt after the one before, together with those before it if that is on;
// falling is how many small things move at a time. It tells when the picture is of, and whether
// pictures look otherwise from now on.
func (s *snowfall) run(cells []uint16, wall time.Time, dt time.Duration, falling float64) (seen time.Time,
	changed bool) {
	if !s.on {
		if falling < snowFalls {
			s.falls, s.count = 0, 0
			return wall, false
		}
		s.keep(cells, wall)
		if s.falls += dt; s.falls < snowAfter || s.count < len(s.raw) {
			return wall, false
		}
		s.on, s.falls, changed = true, 0, true
	} else {
		s.keep(cells, wall)
		if s.count < len(s.raw) {
			return wall, false
		}
	}
	now, last, old := s.raw[s.head][:len(cells)], s.raw[(s.head+2)%3][:len(cells)], s.raw[(s.head+1)%3][:len(cells)]
	for i, v := range now {
		cells[i] = max(min(v, last[i]), min(max(v, last[i]), old[i]))
	}
	specks := 0
	for i := 0; i < len(cells); i += snowStep {
		if abs32(int32(last[i])-int32(cells[i])) >= snowSpeck {
			specks++
		}
	}
	if float64(specks*snowStep) >= snowShare*float64(len(cells)) {
		s.falls = 0
	} else if s.falls += dt; s.falls >= snowCalm {
		s.on, s.falls, s.count = false, 0, 0
		return wall, true
	}
	return s.walls[(s.head+2)%3], changed
}
