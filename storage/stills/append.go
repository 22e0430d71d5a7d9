package stills

import (
	"errors"
	"fmt"
	"hash/crc32"
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
	// maxPending is how many full segments may wait for the flusher; beyond, Append flushes itself.
	maxPending = 4
)

// Append stores a still. It is found at once; it survives a crash of the process from now on, and a power cut once it is
// flushed (FlushEvery). Nothing of s is kept. Stills may come in any order of time; one of the same camera, kind and time
// as an earlier one takes its place. Where the ring is at its cap, or the disk is full, the oldest segment goes.
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
	worst := newIndex()
	if most := r.opts.SegmentBytes - 2*blockBytes - int64(worst.bytes+worst.cost(key)); int64(recordHead+align)+int64(len(s.Camera))+int64(len(s.JPEG)) > most {
		return fmt.Errorf("%w: its %d bytes do not fit a segment of %d: raise stills.segment_size (and max_size)", ErrInvalid, len(s.JPEG), r.opts.SegmentBytes)
	}
	head.crc = crc32.Update(crc32.Checksum([]byte(s.Camera), castagnoli), castagnoli, s.JPEG)

	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	offset, err := r.write(head, s.Camera, s.JPEG, func() int { return r.tail.cost(key) })
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.tail.add(key, at, offset)
	r.seriesLocked(key).tail = r.tail.series[key]
	delete(r.marks, key)
	r.mu.Unlock()
	r.stats.appended.Add(1)
	r.stats.appendedBytes.Add(uint64(len(s.JPEG)))
	return nil
}

// write puts a record behind the last one, in a new segment if need be, and says where. cost is what the active segment's
// index grows by.
func (r *Ring) write(head record, camera string, body []byte, cost func() int) (uint32, error) {
	if r.closed {
		return 0, ErrClosed
	}
	if err := r.makeRoom(head.size(), cost); err != nil {
		return 0, err
	}
	n := int(head.size())
	if cap(r.buf) < n {
		r.buf = make([]byte, n)
	}
	p := r.buf[:n]
	head.encode(p, r.block.salt, r.pos)
	used := recordHead + copy(p[recordHead:], camera)
	used += copy(p[used:], body)
	clear(p[used:])
	for {
		_, err := r.file.file.WriteAt(p, int64(r.pos))
		if err == nil {
			break
		}
		// Preallocated space can be written, unless the file system does not have it or copies on write.
		if full(err) && len(r.segments) > 1 && r.dropOldest() == nil {
			continue
		}
		r.spoiled = true
		if full(err) {
			return 0, fmt.Errorf("%w (%w)", ErrFull, err)
		}
		return 0, err
	}
	at := r.pos
	r.pos += uint32(n)
	r.dirty = true
	return at, nil
}

// makeRoom sees to it that the active segment has room for a record and its entry.
func (r *Ring) makeRoom(size uint32, cost func() int) error {
	if r.file != nil && !(r.spoiled && r.pos > blockBytes) && r.fits(size, cost()) {
		r.payOwed(size, cost())
		return nil
	}
	if r.file != nil {
		r.retire()
	}
	if err := r.begin(); err != nil {
		return err
	}
	r.payOwed(size, cost())
	return nil
}

func (r *Ring) fits(size uint32, cost int) bool {
	return int64(r.pos)+int64(size)+int64(r.tail.bytes)+int64(cost) <= int64(r.block.capacity)-blockBytes
}

// retire seals the active segment and leaves it to the flusher.
func (r *Ring) retire() {
	if err := seal(r.file.file, r.block, r.tail, r.pos); err != nil {
		r.log.Warn("cannot write the index of a segment of stills; the next start reads its records instead", "segment", r.file.seg.path, "error", err)
	}
	r.mu.Lock()
	r.installLocked(r.file.seg, r.tail)
	r.active, r.tail = nil, nil
	r.mu.Unlock()
	r.pending = append(r.pending, r.file)
	r.file, r.dirty = nil, false
	if len(r.pending) > maxPending {
		for _, h := range r.pending {
			r.flushed(h.finish())
		}
		r.pending = nil
	}
}

// begin makes a new segment, dropping the oldest ones until it fits the cap, MinFree and the disk.
func (r *Ring) begin() error {
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
		if err := r.dropOldest(); err != nil {
			return err
		}
	}
	for drops := 0; ; drops++ {
		s, f, err := create(r.fs, r.dir, r.next, uint32(size), time.Now())
		if err == nil {
			r.next++
			r.segments = append(r.segments, s)
			r.dirDirty = true
			r.activate(s, f, block{capacity: uint32(size), number: s.number, salt: s.salt, created: time.Now().UnixNano()}, newIndex(), blockBytes)
			return nil
		}
		if !full(err) {
			return fmt.Errorf("make a segment: %w", err)
		}
		if drops == dropsAtOnce || len(r.segments) == 0 || r.dropOldest() != nil {
			r.retryAt = time.Now().Add(fullPause)
			return fmt.Errorf("%w (%w)", ErrFull, err)
		}
	}
}

func (r *Ring) tooLittleFree(size int64) bool {
	free, err := r.fs.Free(r.dir)
	return err == nil && r.opts.MinFree > 0 && free < r.opts.MinFree+size
}

// full says whether dropping segments may help. A limit on the size of one file is not of that kind.
func full(err error) bool { return vfs.IsFull(err) && !isFileLimit(err) }
