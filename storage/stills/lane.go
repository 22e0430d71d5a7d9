package stills

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
)

// lane is a sequence of segments, of which the last one is written.
type lane struct {
	id    int
	seg   *member         // the one that is written; nil: the next record begins a segment
	file  *segment.Writer // its file; nil as seg is
	tail  *segment.Draft  // its stills and notes; changed by the index only
	began time.Duration   // uptime when it was taken up
}

// take makes a segment the one that the lane writes.
func (l *lane) take(m *member, w *segment.Writer, x *segment.Draft, up time.Duration) {
	m.writer = w
	l.seg, l.file, l.tail, l.began = m, w, x, up
}

// fits says whether the segment has room for a record and for what the index grows by.
func (l *lane) fits(size uint32, cost int) bool { return l.file.Fits(size, l.tail.Bytes+cost) }

// makeRoom sees to it that the lane's segment has room for a record and its entry.
func (r *Ring) makeRoom(l *lane, size uint32, cost func() int) error {
	if l.file == nil || l.file.Unusable() || !l.fits(size, cost()) {
		if l.file != nil {
			r.retire(l)
		}
		if err := r.begin(l); err != nil {
			return err
		}
	}
	if l.id == segment.Quiet {
		r.payOwed(size, cost())
	}
	return nil
}

// retire ends a lane's segment and leaves it to the flusher, which seals it.
func (r *Ring) retire(l *lane) {
	m := l.seg
	wall, up := r.clock()
	total, _ := r.wear.PerDay(up)
	for _, p := range r.pending { // they are counted when they are flushed
		total += int64(p.writer.Unflushed())
	}
	x := r.index.Listing(m, l.tail, wall, total+int64(l.file.Unflushed()))
	m.sealedAt, m.sealedUp = x.SealedAt, max(up, 1)
	l.file.End(x)
	r.index.Install(m, x)
	r.pending = append(r.pending, m)
	l.seg, l.file, l.tail = nil, nil, nil
	switch {
	case len(r.pending) > maxPending:
		r.pending = r.finish(r.pending)
	case len(r.pending) >= wakePending:
		select {
		case r.wake <- struct{}{}:
		default: // it is awake
		}
	}
}

// begin makes a new segment for a lane, dropping old ones until it fits the cap, MinFree and the
// disk.
func (r *Ring) begin(l *lane) error {
	if time.Now().Before(r.retryAt) {
		return ErrFull
	}
	size := r.opts.SegmentBytes
	for len(r.segments) > 0 && r.totalLocked()+size > r.opts.MaxBytes {
		if err := r.dropOldest(); err != nil {
			return err
		}
	}
	// Some file systems give space back with a delay, so not all goes at once.
	for drops := 0; drops < dropsAtOnce && len(r.segments) >= minSegments && r.tooLittleFree(size); drops++ {
		if r.dropOldest() != nil {
			break
		}
	}
	for drops := 0; ; drops++ {
		err := r.create(l, size)
		if err == nil {
			return nil
		}
		if !full(err) {
			return fmt.Errorf("make a segment: %w", err)
		}
		if drops == dropsAtOnce || r.dropOldest() != nil {
			r.retryAt = time.Now().Add(fullPause)
			return fmt.Errorf("%w (%w)", ErrFull, err)
		}
	}
}

// create makes a lane's next segment. A name that something has which is no segment of ours, a
// folder or a link, is passed over: Open has not seen it.
func (r *Ring) create(l *lane, size int64) error {
	wall, up := r.clock()
	for taken := 0; ; taken++ {
		b := segment.NewBlock(r.next, l.id, size, wall)
		if r.era != 0 {
			b.Version, b.Era, b.Created = segment.VersionEra, r.era, 0
		}
		s, w, err := segment.Begin(r.fs, r.dir, b)
		if errors.Is(err, fs.ErrExist) && taken < mostTaken {
			r.next++
			continue
		}
		if err != nil {
			return err
		}
		r.next++
		m := &member{File: s}
		r.segments = append(r.segments, m)
		r.summed()
		r.dirDirty = true
		l.take(m, w, segment.NewDraft(), up)
		return nil
	}
}

func (r *Ring) tooLittleFree(size int64) bool {
	free, err := r.fs.Free(r.dir)
	return err == nil && r.opts.MinFree > 0 && free < r.opts.MinFree+size
}

// full says whether dropping segments may help. A limit on the size of one file is not of that
// kind.
func full(err error) bool { return vfs.IsFull(err) && !isFileLimit(err) }
