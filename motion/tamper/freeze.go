package tamper

import (
	"bytes"
	"time"

	"vmsbridge/motion"
)

const (
	lively       = 0.3             // share of tiles that change in a picture which is not a repetition
	slot         = time.Second     // in which pictures are counted
	livelySlot   = 0.9             // share of a slot's pictures that are lively where noise changes every picture
	slackSlot    = 0.6             // at most, where only keyframes and what follows them change
	betweenSlot  = 0.1             // of them, at most, that are neither lively nor still
	halfSlots    = 4               // in a row, at most, in which an encoder refines what it repeats from then on
	steadyEnough = 6 * time.Second // of lively slots, before a stillness says anything
	stillFor     = 6 * time.Second // of slack slots, or without a beat
)

// stillness tells a picture that is repeated for ever from a quiet scene, by what this camera's
// pictures did before. In most cameras noise changes nearly every block of every picture: then some
// seconds in which only keyframes change anything are a frozen source. A cloud or a dimmed lamp
// changes every block as well, and says nothing when it is over: blocks that go somewhere within a
// second, rather than up and down, are no noise. Where an encoder repeats quiet blocks bit by bit
// that says nothing, but a clock burnt into the picture, which changed one place every second,
// does.
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

	run     time.Duration // how long every picture has been lively
	onset   [blocks]time.Duration
	paused  [blocks]bool // something covered or changed the whole picture since
	beats   [blocks]int
	slip    [blocks]time.Duration // of the newest beat against the first one
	beatAt  time.Time             // when the clock last changed
	freshAt time.Duration         // when nearly all did

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

// step takes a picture dt after the one before. It tells whether pictures stand still, and since
// when.
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
	s.tick(p.Time, changed, fresh)
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
		if s.steady = min(s.steady+length, time.Minute); drifted {
			s.steady /= 2
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
		if s.halves++; s.halves > halfSlots && !s.frozen {
			s.steady, s.slack = 0, 0
		}
		if s.halves == 1 {
			s.sinceHalf = s.first
		}
		return
	}
	s.halves = 0
}
