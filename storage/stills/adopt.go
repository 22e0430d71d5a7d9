package stills

import (
	"bytes"
	"errors"
	"io"

	"vmsbridge/storage/vfs"
)

// halfMade says whether the last segment is one that a crash cut off while it was made: neither of its ends is there, and
// nothing between them.
func (r *Ring) halfMade(l *loaded) bool {
	if l.broken == nil {
		return false
	}
	f, err := r.fs.Open(l.path, false)
	if err != nil {
		return false
	}
	defer f.Close()
	p := make([]byte, windowBytes)
	for at := int64(blockBytes); at < l.size; at += int64(len(p)) {
		n, err := f.ReadAt(p, at)
		if err != nil && !errors.Is(err, io.EOF) || bytes.IndexFunc(p[:n], func(c rune) bool { return c != 0 }) >= 0 {
			return false
		}
	}
	return true
}

// adopt takes a segment that was found into the ring. The last one goes on being written if it is in good shape.
func (r *Ring) adopt(l *loaded, last bool) {
	r.segments = append(r.segments, l.segment)
	r.count(l)
	if l.broken == nil && l.whole && l.lame {
		r.log.Warn("an end of a segment of stills was damaged; it is written anew", "segment", l.path)
		if err := l.mend(r.fs); err != nil {
			l.whole = false
			r.log.Warn("cannot write to a segment of stills", "segment", l.path, "error", err)
		}
	}
	goOn := last && l.whole && !l.block.sealed()
	r.mu.Lock()
	for _, n := range l.index.notes {
		r.noteLocked(n, l.number)
	}
	if !goOn {
		r.installLocked(l.segment, l.index)
	}
	r.mu.Unlock()
	switch {
	case l.broken != nil:
		r.log.Warn("segment of stills cannot be read; it is skipped", "segment", l.path, "error", l.broken)
	case goOn:
		f, err := r.fs.Open(l.path, true)
		if err != nil {
			// Read-only, perhaps; a new segment is begun.
			r.log.Warn("segment of stills cannot be written any more", "segment", l.path, "error", err)
			r.mu.Lock()
			r.installLocked(l.segment, l.index)
			r.mu.Unlock()
			return
		}
		r.heal(f, l)
		r.activate(l.segment, f, l.block, l.index, l.end)
	case !l.sealed && l.whole:
		r.reseal(l)
	}
}

// count notes what loading a segment found.
func (r *Ring) count(l *loaded) {
	if l.broken != nil {
		r.stats.badSegments.Add(1)
		return
	}
	if l.block.sealed() && !l.sealed {
		r.stats.badIndexes.Add(1)
	}
	if n := l.scan.damaged; n > 0 {
		r.stats.badRecords.Add(uint64(n))
		r.log.Warn("damaged stills were skipped", "segment", l.path, "stills", n, "error", l.scan.err)
	}
	r.stats.torn.Add(uint64(l.scan.torn))
}

// reseal gives a segment that was scanned an index for the next time. Without one, it is scanned again.
func (r *Ring) reseal(l *loaded) {
	f, err := r.fs.Open(l.path, true)
	if err != nil {
		return
	}
	defer f.Close()
	r.heal(f, l)
	if err := seal(f, l.block, l.index, l.end); err != nil {
		r.log.Warn("cannot write the index of a segment of stills", "segment", l.path, "error", err)
	}
}

// heal marks what a crash left in a segment that was not yet sealed.
func (r *Ring) heal(f vfs.File, l *loaded) {
	if l.block.sealed() || l.scan.err != nil {
		return // that is damage of another kind; Check goes on telling of it
	}
	if err := heal(f, l.salt, l.scan.bad); err != nil {
		r.log.Warn("cannot write to a segment of stills", "segment", l.path, "error", err)
	}
}

// activate makes a segment the one that is written. appendMu is held, or nobody knows the ring yet.
func (r *Ring) activate(s *segment, f vfs.File, b block, x *index, pos uint32) {
	r.file, r.block, r.pos, r.spoiled = &handle{file: f, seg: s}, b, pos, false
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active, r.tail = s, x
	for k, e := range x.series {
		r.seriesLocked(k).tail = e
	}
}
