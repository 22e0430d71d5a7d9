package tamper

import (
	"bytes"
	"time"

	"vmsbridge/motion"
)

const (
	lively    = 0.3             // share of tiles that change in a picture which is not a repetition
	slot      = time.Second     // in which pictures are counted, or longer where few come
	halfSlots = 4               // in a row, at most, in which an encoder refines what it repeats from then on
	stillFor  = 6 * time.Second // of slots that rest, or without a beat
)

// stillness tells a picture that is repeated for ever from a quiet scene, by what this camera's
// pictures did before: by the share of them in which the quieter tiles change, where that is known
// (rest), else by a clock burnt into the picture, which changed one place every second (tick).
type stillness struct {
	before   []byte
	width    int
	changed  [blocks]bool // by the newest picture
	previous [blocks]bool // by the one before

	at       time.Duration // own time
	slotAt   time.Duration // when the slot began
	pictures int
	first    time.Time // of the first picture of the slot that was not lively
	began    levels    // of the slot's first picture
	last     levels    // of its last picture but one

	run     time.Duration // how long every picture has been lively
	onset   [blocks]time.Duration
	paused  [blocks]bool // something covered or changed the whole picture since
	beats   [blocks]int
	slip    [blocks]time.Duration // of the newest beat against the first one
	beatAt  time.Time             // when the clock last changed
	freshAt time.Duration         // when nearly all did

	rest rest

	frozen bool
	since  time.Time // when that began
	clock  bool      // it was the clock that stopped
	rested bool      // it was rest that lasted too long
}

// resize forgets everything.
func (s *stillness) resize(g grid) {
	before := s.before
	if len(before) != g.pictureWidth*g.pictureHeight {
		before = make([]byte, g.pictureWidth*g.pictureHeight)
	}
	*s = stillness{before: before, width: g.pictureWidth}
}

// step takes a picture dt after the one before. It tells whether pictures stand still, and since
// when.
func (s *stillness) step(p motion.Picture, dt time.Duration) (frozen bool, since time.Time) {
	s.at += dt
	closes := s.pictures+1 >= fewPictures && s.at-s.slotAt >= slot
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
	if !fresh && s.first.IsZero() {
		s.first = p.Time
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
	rests := s.rest.close(s.pictures, s.at-s.slotAt, s.drifted(), s.frozen, s.first)
	switch {
	case rests && !s.frozen:
		s.frozen, s.clock, s.rested, s.since = true, false, true, s.rest.since
	case s.frozen && s.rested && s.rest.long == 0:
		s.frozen, s.rested = false, false
	}
	s.pictures = 0
}
