package tamper

import (
	"bytes"
	"slices"
	"time"

	"vmsbridge/motion"
)

const (
	lively       = 0.3                    // share of tiles that change in a picture which is not a repetition
	slot         = time.Second            // in which pictures are counted
	livelySlot   = 0.9                    // share of a slot's pictures that are lively where noise changes every picture
	slackSlot    = 0.6                    // at most, where only keyframes and what follows them change
	betweenSlot  = 0.1                    // of them, at most, that are neither lively nor still
	steadyEnough = 6 * time.Second        // of lively slots, before a stillness says anything
	drifts       = 3                      // times as much as from one picture to the next, that blocks change in a slot in which the light does
	driftLeast   = 0.1                    // grey levels, on the mean of the blocks, likewise
	driftWide    = 0.3                    // grey levels, nearly everywhere, likewise
	stillFor     = 6 * time.Second        // of slack slots, or without a beat
	beatsEnough  = 15                     // of a clock in the picture
	beatSlip     = 350 * time.Millisecond // that a beat may be early or late
)

// stillness tells a picture that is repeated for ever from a quiet scene, by what this camera's pictures did before. In most
// cameras noise changes nearly every block of every picture: then some seconds in which only keyframes change anything are a
// frozen source. A cloud or a dimmed lamp changes every block as well, and says nothing when it is over: blocks that go somewhere within a second, rather than
// up and down, are no noise. Where an encoder repeats quiet blocks bit by bit that says nothing, but a clock burnt into the picture, which
// changed one place every second, does.
type stillness struct {
	before   []byte
	width    int
	changed  [blocks]bool // by the newest picture
	previous [blocks]bool // by the one before

	at       time.Duration // own time
	slotAt   time.Duration // when the slot began
	pictures int
	alive    int
	between  int       // of them neither lively nor still: a place that became quieter
	first    time.Time // of the first picture of the slot that was not lively
	began    levels    // of the slot's first picture
	last     levels    // of its last picture but one

	steady    time.Duration // of lively slots without another
	known     time.Duration // the longest slack that turned out to be none
	slack     time.Duration
	since     time.Time // when slack began
	halves    int       // slots in a row that were neither lively nor slack
	sinceHalf time.Time // first picture that was not lively in the last of them

	run    time.Duration // how long every picture has been lively
	onset  [blocks]time.Duration
	paused [blocks]bool // something covered or changed the whole picture since
	beats  [blocks]int
	beatAt time.Time // when the clock last changed

	rest rest

	frozen bool
	clock  bool // it was the clock that stopped
	rested bool // it was rest that lasted too long
}

// resize forgets everything.
func (s *stillness) resize(g grid) {
	before := s.before
	if len(before) != g.pictureWidth*g.pictureHeight {
		before = make([]byte, g.pictureWidth*g.pictureHeight)
	}
	*s = stillness{before: before, width: g.pictureWidth}
}

// unsettle forgets what is known of the camera's pictures: the light changed, and noise with it.
func (s *stillness) unsettle() {
	if !s.frozen {
		s.steady, s.slack, s.known = 0, 0, 0
	}
}

// step takes a picture dt after the one before. It tells whether pictures stand still, and since when.
func (s *stillness) step(p motion.Picture, dt time.Duration) (frozen bool, since time.Time) {
	s.at += dt
	closes := s.pictures > 0 && s.at-s.slotAt >= slot
	if closes {
		s.last = s.levels()
	}
	changed := s.compare(p)
	fresh := float64(changed) >= lively*blocks
	s.rest.count(&s.changed)
	if fresh {
		s.run += dt
	} else {
		s.run = 0
	}
	s.tick(p.Time, fresh)
	if s.pictures == 0 {
		s.slotAt, s.first = s.at-dt, time.Time{}
	}
	s.pictures++
	if fresh {
		s.alive++
	} else {
		if s.first.IsZero() {
			s.first = p.Time
		}
		if changed > clockTiles {
			s.between++
		}
	}
	if closes {
		s.close()
	}
	if s.frozen {
		return true, s.since
	}
	return s.stopped(p.Time)
}

// compare finds the tiles that changed, keeps the picture, and tells how many did.
func (s *stillness) compare(p motion.Picture) int {
	s.previous = s.changed
	s.changed = [blocks]bool{}
	n := 0
	for y := range p.Height {
		now, was := p.Luma[y*p.Stride:y*p.Stride+p.Width], s.before[y*s.width:(y+1)*s.width]
		row := s.changed[y*blocksY/p.Height*blocksX:][:blocksX]
		for b := range row {
			if row[b] {
				continue
			}
			x0, x1 := block(b, blocksX, p.Width)
			if !bytes.Equal(now[x0:x1], was[x0:x1]) {
				row[b] = true
				n++
			}
		}
		copy(was, now)
	}
	return n
}

// levels are the mean grey levels of the tiles.
type levels [blocks]float32

// levels are those of the picture that was kept last.
func (s *stillness) levels() levels {
	var l levels
	height := len(s.before) / s.width
	for y := range height {
		row := l[y*blocksY/height*blocksX:][:blocksX]
		for b := range row {
			sum := 0
			x0, x1 := block(b, blocksX, s.width)
			for _, v := range s.before[y*s.width+x0 : y*s.width+x1] {
				sum += int(v)
			}
			row[b] += float32(sum) / float32(max(1, x1-x0))
		}
	}
	for b := range l {
		l[b] *= float32(blocksY) / float32(height)
	}
	return l
}

// from is by how much the tiles differ: on the mean, and three quarters of them at least.
func (l *levels) from(k *levels) (mean, most float64) {
	differ := *l
	for b := range l {
		differ[b] = abs(l[b] - k[b])
		mean += float64(differ[b])
	}
	slices.Sort(differ[:])
	return mean / blocks, float64(differ[quarter])
}

// drifted tells whether the light changed in the slot that ends, on the mean and nearly everywhere, and remembers where the next one begins.
func (s *stillness) drifted() (somewhere, everywhere bool) {
	now := s.levels()
	went, all := now.from(&s.began)
	step, allStep := now.from(&s.last)
	s.began = now
	return went > drifts*step+driftLeast, all > drifts*allStep+driftWide
}

// close judges a slot.
func (s *stillness) close() {
	drifted, everywhere := s.drifted()
	length := s.at - s.slotAt
	share := float64(s.alive) / float64(s.pictures)
	switch rests := s.rest.close(s.pictures, length, everywhere, s.frozen, s.first); {
	case rests && !s.frozen:
		s.frozen, s.clock, s.rested, s.since = true, false, true, s.rest.since
	case s.frozen && s.rested && s.rest.long == 0:
		s.frozen, s.rested = false, false
	}
	between := float64(s.between) / float64(s.pictures)
	s.pictures, s.alive, s.between = 0, 0, 0
	switch {
	case share >= livelySlot:
		if !s.frozen {
			s.known = max(s.known, s.slack)
		}
		s.frozen = s.frozen && (s.clock || s.rested)
		s.slack = 0
		if s.steady = min(s.steady+length, time.Hour); drifted {
			s.steady = 0
		}
	case share <= slackSlot && between <= betweenSlot && (s.steady >= steadyEnough || s.frozen):
		if s.slack == 0 && !s.frozen {
			if s.since = s.first; s.halves > 0 {
				s.since = s.sinceHalf
			}
		}
		s.slack += length
		if s.slack >= max(stillFor, 2*s.known+2*time.Second) && !s.frozen {
			s.frozen, s.clock = true, false
		}
		if s.slack > time.Minute && !s.frozen {
			s.steady, s.slack = 0, 0
		}
	default: // such as the slot in which the stillness begins
		if s.halves++; s.halves > 1 && !s.frozen {
			s.steady, s.slack = 0, 0
		}
		s.sinceHalf = s.first
		return
	}
	s.halves = 0
}

// tick follows places that change once a second while nothing else does.
func (s *stillness) tick(at time.Time, fresh bool) {
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
		d := s.at - s.onset[b]
		off := (d+slot/2)%slot - slot/2
		switch {
		case d < slot*7/2 && d > slot/2 && off.Abs() <= beatSlip && (d < slot*3/2 || s.paused[b]):
			s.beats[b] = min(s.beats[b]+1, 1000)
		default:
			s.beats[b] = 0
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
