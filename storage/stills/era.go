package stills

import (
	"fmt"
	"time"

	"vmsbridge/storage/stills/segment"
)

// A box without a clock battery does not know the time when it starts. The stills of such a start
// are an era: their times fit together, and all are wrong by the same amount, which is known later.
// They stand in segments of their own, whose blocks say which era they are of. When the time is
// known, Settle writes the amount into those two blocks, and no record is touched: what is on disk
// plus the shift is the time. In memory all times have the shift in them.

// maxEra is the largest number of an era that a block has room for.
const maxEra = 1<<24 - 1

// SetEra says which era the times of the stills and gaps are of that are stored from now on: 0, as
// after Open, if they are true. Others begin new segments. The numbers are the caller's, 1 to
// 16777215, and one that was settled is not to be used again.
func (r *Ring) SetEra(era uint32) {
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	r.setEra(era)
}

// setEra is SetEra. appendMu is held.
func (r *Ring) setEra(era uint32) {
	r.era = era & maxEra
	for _, l := range r.lanes {
		if l.file != nil && l.seg.Era != r.era {
			r.retire(l)
		}
	}
}

// Announce says by how much an era was wrong, before Settle puts it right. It waits for nothing.
// What AppendOf and GapOf are given of that era from now on, they store with its right time:
// whoever made it need not know.
func (r *Ring) Announce(era uint32, shift time.Duration) {
	if era == 0 {
		return
	}
	r.shifts.mu.Lock()
	defer r.shifts.mu.Unlock()
	if r.shifts.of == nil {
		r.shifts.of = map[uint32]time.Duration{}
	}
	r.shifts.of[era] = shift
}

// enter makes the next record one of an era, nil for the one that SetEra has named, and says what
// to add to its times. appendMu is held.
func (r *Ring) enter(era *uint32) (shift int64) {
	if era == nil {
		return 0
	}
	r.shifts.mu.Lock()
	by, known := r.shifts.of[*era]
	r.shifts.mu.Unlock()
	if *era == 0 || known {
		r.setEra(0)
		return int64(by)
	}
	r.setEra(*era)
	return 0
}

// Settle adds shift to the times of all stills and gaps of an era, durably, and the era is over:
// what is stored later has true times. An era that the ring does not know, or has settled, changes
// nothing, so that it can be called again after a crash; a crash in its midst leaves some segments
// settled and others not. Questions wait for no device meanwhile, Append does.
func (r *Ring) Settle(era uint32, shift time.Duration) error {
	if era == 0 {
		return nil
	}
	r.Announce(era, shift)
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
		if s.Era != era || s.dead || s.broken != nil {
			continue
		}
		if err := r.settle(s, int64(shift)); err != nil {
			return err
		}
	}
	r.index.Settled()
	return nil
}

// settle moves the times of a segment, on the disk and then in memory. appendMu and flushMu are
// held.
func (r *Ring) settle(m *member, shift int64) error {
	if err := segment.Settle(r.fs, &m.File, m.writer, shift); err != nil {
		return fmt.Errorf("settle the times of %s: %w", m.Path, err)
	}
	var open *segment.Draft
	if r.isActive(m) {
		open = r.lanes[m.Lane].tail
	}
	r.index.Settle(m, open, shift)
	m.sealedAt = segment.SealShifted(m.sealedAt, shift)
	return nil
}

// EraExtent is the time of the oldest and the newest still of an era, as they are stored, and
// whether there is any.
func (r *Ring) EraExtent(era uint32) (from, to time.Time, ok bool) {
	lo, hi, ok := r.index.EraExtent(era)
	if !ok {
		return time.Time{}, time.Time{}, false
	}
	return segment.Time(lo), segment.Time(hi), true
}
