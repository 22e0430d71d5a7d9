package stills

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"time"
)

// A box without a clock battery does not know the time when it starts. The stills of such a start are an era: their times fit
// together, and all are wrong by the same amount, which is known later. They stand in segments of their own, whose blocks say
// which era they are of. When the time is known, Settle writes the amount into those two blocks, and no record is touched:
// what is on disk plus the shift is the time. In memory all times have the shift in them.

// maxEra is the largest number of an era that a block has room for.
const maxEra = 1<<24 - 1

// SetEra says which era the times of the stills and gaps are of that are stored from now on: 0, as after Open, if they are true.
// Others begin new segments. The numbers are the caller's, 1 to 16777215, and one that was settled is not to be used again.
func (r *Ring) SetEra(era uint32) {
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	r.era = era & maxEra
	for _, l := range r.lanes {
		if l.file != nil && l.file.seg.era != r.era {
			r.retire(l)
		}
	}
}

// Settle adds shift to the times of all stills and gaps of an era, durably, and the era is over: what is stored later has true
// times. An era that the ring does not know, or has settled, changes nothing, so that it can be called again after a crash; a crash
// in its midst leaves some segments settled and others not. Questions wait for no device meanwhile, Append does.
func (r *Ring) Settle(era uint32, shift time.Duration) error {
	if era == 0 {
		return nil
	}
	r.flushMu.Lock() // no flush writes a block, or an index, meanwhile
	defer r.flushMu.Unlock()
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	if r.closed {
		return ErrClosed
	}
	if r.era == era {
		r.era = 0
	}
	for _, s := range r.segments {
		if s.era != era || s.dead || s.broken != nil {
			continue
		}
		if err := r.settleBlocks(s, int64(shift)); err != nil {
			return fmt.Errorf("settle the times of %s: %w", s.path, err)
		}
		r.settleMemory(s, int64(shift))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.series {
		s.lookMixed()
	}
	return nil
}

// settleBlocks writes both of a segment's blocks with the shift. The last one counts where they differ, so the first is made of
// it: whatever of the two a crash keeps from the device, no shift is added twice.
func (r *Ring) settleBlocks(s *segment, shift int64) error {
	move := func(b *block) { b.era, b.shift = 0, b.shift+shift }
	h := s.handle
	if h == nil || h.closed {
		f, err := r.fs.Open(s.path, true)
		if err != nil {
			return err
		}
		defer f.Close()
		h = &handle{file: f, seg: s}
	}
	b, err := readBlock(h.file, s.size-blockBytes, footMagic)
	if err != nil {
		if b, err = readBlock(h.file, 0, headMagic); err != nil {
			return err
		}
	}
	if b.era == 0 {
		return nil // a crash came between this and what the caller noted
	}
	move(&b)
	head := b
	head.indexAt, head.indexLen, head.indexCRC, head.recordEnd = 0, 0, 0, 0
	if _, err := h.file.WriteAt(b.encode(footMagic), s.size-blockBytes); err != nil {
		return err
	}
	if _, err := h.file.WriteAt(head.encode(headMagic), 0); err != nil {
		return err
	}
	if err := h.file.Sync(); err != nil {
		return err
	}
	if h.listing != nil { // it is full and will be sealed
		move(&h.block)
	}
	if l := r.lanes[s.lane]; l.file != nil && l.file.seg == s {
		move(&l.block)
	}
	return nil
}

// settleMemory moves what is known of a segment.
func (r *Ring) settleMemory(s *segment, shift int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.era, s.shift = 0, s.shift+shift
	s.sealedAt = sealShifted(s.sealedAt, shift)
	for _, ser := range r.series {
		for i := range ser.parts {
			if p := &ser.parts[i]; p.seg == s {
				p.min, p.max = p.min+shift, p.max+shift
			}
		}
	}
	if h := s.handle; h != nil && h.listing != nil {
		h.listing.move(shift)
	}
	if l := r.lanes[s.lane]; l.file != nil && l.file.seg == s {
		l.tail.move(shift)
	}
	for k, number := range r.marks {
		if number == s.number {
			r.series[k].prunedTo += shift
		}
	}
	for _, list := range r.gaps {
		for i := range list {
			if g := &list[i]; g.segment == s.number {
				g.from, g.to = g.from+shift, shifted(g.to, shift)
			}
		}
		slices.SortFunc(list, func(a, b gapNote) int { return cmp.Compare(a.from, b.from) })
	}
}

// EraExtent is the time of the oldest and the newest still of an era, as they are stored, and whether there is any.
func (r *Ring) EraExtent(era uint32) (from, to time.Time, ok bool) {
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, s := range r.series {
		for _, p := range s.parts {
			if p.seg.era == era {
				lo, hi = min(lo, p.min), max(hi, p.max)
			}
		}
		for _, t := range s.tails {
			if t.entries != nil && len(t.list) > 0 && t.seg.era == era {
				lo, hi = min(lo, t.list[0].time), max(hi, t.list[len(t.list)-1].time)
			}
		}
	}
	if lo > hi {
		return time.Time{}, time.Time{}, false
	}
	return nanosTime(lo), nanosTime(hi), true
}

// lookMixed finds out anew whether the parts follow each other in time.
func (s *series) lookMixed() {
	s.mixed = false
	for i := 1; i < len(s.parts) && !s.mixed; i++ {
		s.mixed = !s.follows(i)
	}
}

// raw is a record as the segment stores it: without the shift.
func (s *segment) raw(h record, camera string, body []byte) (record, []byte) {
	if s.shift == 0 {
		return h, body
	}
	h.time -= s.shift
	if h.kind == typeGap && len(body) >= 8 {
		body = slices.Clone(body)
		le.PutUint64(body, uint64(shifted(int64(le.Uint64(body)), -s.shift)))
		h.crc = crc32.Update(crc32.Checksum([]byte(camera), castagnoli), castagnoli, body)
	}
	return h, body
}

// sealTime is when a segment became full: by the wall clock, or where that is untrue, or was when the segment was begun, when the
// newest of its stills was taken.
func (s *segment) sealTime(x *index, wall time.Time) int64 {
	if s.era == 0 && s.shift == 0 {
		return wall.UnixNano()
	}
	newest := int64(0)
	for _, e := range x.series {
		if n := len(e.list); n > 0 {
			newest = max(newest, e.list[n-1].time)
		}
	}
	return newest
}

// raw is a listing as a segment with a shift stores it.
func (l *listing) raw(shift int64) *listing {
	if shift == 0 {
		return l
	}
	c := *l
	c.list = slices.Clone(l.list)
	c.move(-shift)
	return &c
}

// move adds shift to all times.
func (l *listing) move(shift int64) {
	if shift == 0 {
		return
	}
	for i := range l.list {
		l.list[i].time += shift
	}
	l.notes = moved(l.notes, shift)
	l.sealedAt = sealShifted(l.sealedAt, shift)
}

// move adds shift to all times.
func (x *index) move(shift int64) {
	if shift == 0 {
		return
	}
	for _, e := range x.series {
		for i := range e.list {
			e.list[i].time += shift
		}
	}
	x.notes = moved(x.notes, shift)
}

func moved(notes []note, shift int64) []note {
	notes = slices.Clone(notes)
	for i := range notes {
		notes[i].from += shift
		if notes[i].kind == typeGap {
			notes[i].to = shifted(notes[i].to, shift)
		}
	}
	return notes
}

// shifted is the end of a gap; one that lasts has none.
func shifted(to, shift int64) int64 {
	if to == noEnd {
		return to
	}
	return to + shift
}

// sealShifted is a time of sealing; 0 is not known.
func sealShifted(at, shift int64) int64 {
	if at == 0 {
		return 0
	}
	return at + shift
}
