package stills

import (
	"errors"
	"fmt"
	"time"

	"vmsbridge/storage/stills/segment"
)

var (
	// ErrFull is wrapped by Append's error when there is no room even after the oldest segments
	// were dropped.
	ErrFull = errors.New("no space left for stills: free disk space or lower stills.max_size")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("the ring of stills is closed")
)

const (
	// dropsAtOnce bounds how many segments a full disk costs at a time, in case dropping does not
	// help (something else takes the space at once, or a quota counts otherwise).
	dropsAtOnce = 4
	// fullPause is how long no new segment is tried after that.
	fullPause = time.Second
	// wakePending is how many full segments wake the flusher, and maxPending how many may wait for
	// it; beyond, Append flushes itself.
	wakePending, maxPending = 2, 8
	// mostFailed is how many full segments that could not be flushed are tried again.
	mostFailed = 16
	// mostTaken is how many names in a row something else may have.
	mostTaken = 1000
)

// Append stores a still. It is found at once; it survives a crash of the process from now on, and a
// power cut once it is flushed (Options.FlushEvery). Nothing of s is kept. Stills may come in any
// order of time; one of the same camera, kind and time as an earlier one takes its place. Where the
// ring is at its cap, or the disk is full, a segment goes (quota says which).
//
// ErrInvalid: no camera id or one over 255 bytes, an unknown kind, a time that does not fit, no
// bytes, or more than a segment holds. ErrFull: see there; the ring goes on when there is room.
// Other errors are the device's.
func (r *Ring) Append(s Still) error { return r.appended(s, r.append(s, nil)) }

// AppendOf is Append of a still whose time is of an era; 0 is none. See Announce.
func (r *Ring) AppendOf(era uint32, s Still) error { return r.appended(s, r.append(s, &era)) }

func (r *Ring) appended(s Still, err error) error {
	if err != nil {
		r.stats.failed.Add(1)
		return fmt.Errorf("append still of %q: %w", s.Camera, err)
	}
	return nil
}

// append stores a still of an era; nil is the one that SetEra has named.
func (r *Ring) append(s Still, era *uint32) error {
	if err := errors.Join(segment.CheckCamera(s.Camera), segment.CheckKind(s.Kind)); err != nil {
		return err
	}
	at, err := segment.Nanos(s.Time)
	if err != nil {
		return err
	}
	if len(s.JPEG) == 0 {
		return fmt.Errorf("%w: it has no bytes", ErrInvalid)
	}
	key := segment.Key{Camera: s.Camera, Kind: s.Kind}
	worst := segment.NewDraft()
	most := r.opts.SegmentBytes - 2*segment.BlockBytes - int64(worst.Bytes+worst.Cost(key))
	if int64(segment.RecordHead+segment.Align)+int64(len(s.Camera))+int64(len(s.JPEG)) > most {
		return fmt.Errorf("%w: its %d bytes do not fit a segment of %d: raise stills.segment_size (and max_size)",
			ErrInvalid, len(s.JPEG), r.opts.SegmentBytes)
	}

	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	if r.closed {
		return ErrClosed
	}
	at += r.enter(era)
	head := segment.StillRecord(key, at, s.JPEG)
	_, up := r.clock()
	l := r.lanes[r.share.lane(s.Camera, head.Size(), up)]
	r.order(l, key, at)
	offset, err := r.write(l, head, s.Camera, s.JPEG, func() int { return l.tail.Cost(key) })
	if err != nil {
		return err
	}
	r.index.Add(l.seg, l.tail, key, segment.Entry{Time: at, Place: offset, Size: uint32(len(s.JPEG))})
	r.stats.appended.Add(1)
	r.stats.appendedBytes.Add(uint64(len(s.JPEG)))
	return nil
}

// order sees to it that a still stands in a segment of a higher number than all earlier ones of its
// time, for of several the newest segment's counts.
func (r *Ring) order(l *lane, key segment.Key, at int64) {
	if l.file != nil && r.index.Later(key, at, l.seg.Number) {
		r.retire(l)
	}
}

// write puts a record behind the last one of a lane, in a new segment if need be, and says where.
// cost is what the segment's index grows by.
func (r *Ring) write(l *lane, head segment.Record, camera string, body []byte, cost func() int) (uint32, error) {
	if err := r.makeRoom(l, head.Size(), cost); err != nil {
		return 0, err
	}
	head, body = head.Unshifted(camera, body, l.seg.Shift)
	r.buf = l.file.Encode(r.buf[:0], head, camera, body)
	for {
		at, err := l.file.Put(r.buf)
		if err == nil {
			return at, nil
		}
		// Preallocated space can be written, unless the file system does not have it or copies on
		// write.
		if full(err) && r.dropOldest() == nil {
			continue
		}
		l.file.Spoil()
		if full(err) {
			return 0, fmt.Errorf("%w (%w)", ErrFull, err)
		}
		return 0, err
	}
}
