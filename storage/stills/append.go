package stills

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"time"

	"vmsbridge/storage/vfs"
)

var (
	// ErrFull is wrapped by Append's error when there is no room even after the oldest segments were dropped.
	ErrFull = errors.New("no space left for stills: free disk space or lower stills.max_size")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("the ring of stills is closed")
)

const (
	// dropsAtOnce bounds how many segments a full disk costs at a time, in case dropping does not help (something else
	// takes the space at once, or a quota counts otherwise).
	dropsAtOnce = 4
	// fullPause is how long no new segment is tried after that.
	fullPause = time.Second
	// wakePending is how many full segments wake the flusher, and maxPending how many may wait for it; beyond, Append
	// flushes itself.
	wakePending, maxPending = 2, 8
	// mostFailed is how many full segments that could not be flushed are tried again.
	mostFailed = 16
	// mostTaken is how many names in a row something else may have.
	mostTaken = 1000
)

// Append stores a still. It is found at once; it survives a crash of the process from now on, and a power cut once it is
// flushed (Options.FlushEvery). Nothing of s is kept. Stills may come in any order of time; one of the same camera, kind and time
// as an earlier one takes its place. Where the ring is at its cap, or the disk is full, a segment goes (share.go says which).
//
// ErrInvalid: no camera id or one over 255 bytes, an unknown kind, a time that does not fit, no bytes, or more than a
// segment holds. ErrFull: see there; the ring goes on when there is room. Other errors are the device's.
func (r *Ring) Append(s Still) error {
	err := r.append(s)
	if err != nil {
		r.stats.failed.Add(1)
		return fmt.Errorf("append still of %q: %w", s.Camera, err)
	}
	return nil
}

func (r *Ring) append(s Still) error {
	if err := errors.Join(checkCamera(s.Camera), checkKind(s.Kind)); err != nil {
		return err
	}
	at, err := nanos(s.Time)
	if err != nil {
		return err
	}
	if len(s.JPEG) == 0 {
		return fmt.Errorf("%w: it has no bytes", ErrInvalid)
	}
	key := seriesKey{s.Camera, s.Kind}
	head := record{length: uint32(len(s.Camera) + len(s.JPEG)), time: at, kind: typeStill, stream: s.Kind, camera: uint8(len(s.Camera))}
	worst := newIndex(version)
	if most := r.opts.SegmentBytes - 2*blockBytes - int64(worst.bytes+worst.cost(key)); int64(recordHead+align)+int64(len(s.Camera))+int64(len(s.JPEG)) > most {
		return fmt.Errorf("%w: its %d bytes do not fit a segment of %d: raise stills.segment_size (and max_size)", ErrInvalid, len(s.JPEG), r.opts.SegmentBytes)
	}
	head.crc = crc32.Update(crc32.Checksum([]byte(s.Camera), castagnoli), castagnoli, s.JPEG)

	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	if r.closed {
		return ErrClosed
	}
	_, up := r.clock()
	l := r.lanes[r.share.lane(s.Camera, head.size(), up)]
	r.order(l, key, at)
	offset, err := r.write(l, head, s.Camera, s.JPEG, func() int { return l.tail.cost(key) })
	if err != nil {
		return err
	}
	r.mu.Lock()
	l.tail.add(key, entry{at, offset, uint32(len(s.JPEG))})
	r.seriesLocked(key).tails[l.id] = tail{l.file.seg, l.tail.series[key]}
	delete(r.marks, key)
	r.mu.Unlock()
	r.stats.appended.Add(1)
	r.stats.appendedBytes.Add(uint64(len(s.JPEG)))
	return nil
}

// order sees to it that a still stands in a segment of a higher number than all earlier ones of its time, for of several
// the newest segment's counts.
func (r *Ring) order(l *lane, key seriesKey, at int64) {
	if l.file == nil {
		return
	}
	r.mu.RLock()
	s := r.series[key]
	later := s != nil && s.later(at, l.file.seg.number)
	r.mu.RUnlock()
	if later {
		r.retire(l)
	}
}

// write puts a record behind the last one of a lane, in a new segment if need be, and says where. cost is what the
// segment's index grows by.
func (r *Ring) write(l *lane, head record, camera string, body []byte, cost func() int) (uint32, error) {
	if err := r.makeRoom(l, head.size(), cost); err != nil {
		return 0, err
	}
	head, body = l.file.seg.raw(head, camera, body)
	n := int(head.size())
	if cap(r.buf) < n {
		r.buf = make([]byte, n)
	}
	p := r.buf[:n]
	head.encode(p, l.block.salt, l.pos)
	used := recordHead + copy(p[recordHead:], camera)
	used += copy(p[used:], body)
	clear(p[used:])
	for {
		_, err := l.file.file.WriteAt(p, int64(l.pos))
		if err == nil {
			break
		}
		// Preallocated space can be written, unless the file system does not have it or copies on write.
		if full(err) && r.dropOldest() == nil {
			continue
		}
		l.spoiled, l.dirty = true, true // a part of it may have arrived
		if full(err) {
			return 0, fmt.Errorf("%w (%w)", ErrFull, err)
		}
		return 0, err
	}
	at := l.pos
	l.pos += uint32(n)
	l.dirty = true
	return at, nil
}

// makeRoom sees to it that the lane's segment has room for a record and its entry.
func (r *Ring) makeRoom(l *lane, size uint32, cost func() int) error {
	if l.file == nil || l.spoiled && l.pos > blockBytes || !l.fits(size, cost()) {
		if l.file != nil {
			r.retire(l)
		}
		if err := r.begin(l); err != nil {
			return err
		}
	}
	if l.id == quiet {
		r.payOwed(size, cost())
	}
	return nil
}

func (l *lane) fits(size uint32, cost int) bool {
	return int64(l.pos)+int64(size)+int64(l.tail.bytes)+int64(cost) <= int64(l.block.capacity)-blockBytes
}

// retire ends a lane's segment and leaves it to the flusher, which seals it.
func (r *Ring) retire(l *lane) {
	h := l.file
	wall, up := r.clock()
	total, _ := r.wear.perDay(up)
	for _, h := range r.pending { // they are counted when they are flushed
		total += int64(h.end - h.flushed)
	}
	x := l.tail.listing(h.seg.sealTime(l.tail, wall), total+int64(l.pos-h.flushed))
	h.seg.sealedAt, h.seg.sealedUp = x.sealedAt, max(up, 1)
	r.mu.Lock()
	r.installLocked(h.seg, x)
	r.mu.Unlock()
	h.end, h.block, h.listing = l.pos, l.block, x
	r.pending = append(r.pending, h)
	l.file, l.tail, l.dirty = nil, nil, false
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

// begin makes a new segment for a lane, dropping old ones until it fits the cap, MinFree and the disk.
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

// create makes a lane's next segment. A name that something has which is no segment of ours, a folder or a link, is passed over:
// Open has not seen it.
func (r *Ring) create(l *lane, size int64) error {
	wall, up := r.clock()
	for taken := 0; ; taken++ {
		b := newBlock(r.next, l.id, size, wall)
		if r.era != 0 {
			b.version, b.era, b.created = versionEra, r.era, 0
		}
		s, f, err := create(r.fs, r.dir, b)
		if errors.Is(err, fs.ErrExist) && taken < mostTaken {
			r.next++
			continue
		}
		if err != nil {
			return err
		}
		r.next++
		r.segments = append(r.segments, s)
		r.dirDirty = true
		l.take(&handle{file: f, seg: s, ends: true}, b, newIndex(b.version), blockBytes, up)
		return nil
	}
}

// take makes a segment the one that the lane writes.
func (l *lane) take(h *handle, b block, x *index, pos uint32, up time.Duration) {
	h.seg.handle = h
	l.file, l.block, l.tail, l.pos, l.began, l.spoiled, l.dirty = h, b, x, pos, up, false, h.ends
}

func (r *Ring) tooLittleFree(size int64) bool {
	free, err := r.fs.Free(r.dir)
	return err == nil && r.opts.MinFree > 0 && free < r.opts.MinFree+size
}

// full says whether dropping segments may help. A limit on the size of one file is not of that kind.
func full(err error) bool { return vfs.IsFull(err) && !isFileLimit(err) }
