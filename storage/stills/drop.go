package stills

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

func isFileLimit(err error) bool { return errors.Is(err, syscall.EFBIG) }

// dropOldest forgets the oldest segment and deletes its file. It must not be the active one. If the file cannot be
// deleted, the segment stays in the list, empty, and its bytes go on to count.
func (r *Ring) dropOldest() error {
	if len(r.segments) == 0 || r.segments[0] == r.activeSegment() {
		return ErrFull
	}
	s := r.segments[0]
	if !s.dead {
		r.forgetSegment(s)
		s.dead = true
		r.stats.dropped.Add(1)
	}
	// A file that is still open would go on to take its space.
	for i, h := range r.pending {
		if h.seg == s {
			r.pending = append(r.pending[:i:i], r.pending[i+1:]...)
			_ = h.close()
			break
		}
	}
	if err := r.fs.Remove(s.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("delete the oldest segment: %w", err)
	}
	r.segments = r.segments[1:]
	r.dirDirty = true
	return nil
}

func (r *Ring) activeSegment() *segment {
	if r.file == nil {
		return nil
	}
	return r.file.seg
}

// forgetSegment takes the segment's stills and notes out of the index. A series that loses its last still leaves a note,
// so that Find can still tell pruned from never recorded.
func (r *Ring) forgetSegment(s *segment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, ser := range r.series {
		had := false
		kept := ser.parts[:0]
		for _, p := range ser.parts {
			if p.seg != s {
				kept = append(kept, p)
				continue
			}
			had = true
			if !ser.pruned || p.max > ser.prunedTo {
				ser.pruned, ser.prunedTo = true, p.max
			}
		}
		clear(ser.parts[len(kept):])
		ser.parts = kept
		if !ser.pruned || !had && r.marks[k] != s.number {
			continue
		}
		if _, _, ok := ser.bounds(); !ok && len(r.owed) < maxOwed {
			r.owed = append(r.owed, note{kind: typePruned, stream: k.kind, camera: k.camera, from: ser.prunedTo})
		}
	}
	r.dropGapsLocked(s.number)
	s.times, s.offsets = nil, nil
}

// maxOwed bounds the notes that a ring carries along for cameras that no longer record.
const maxOwed = 1000

// payOwed writes the notes of pruned series into the active segment, as long as a record of the given size and cost still
// fits behind them. What does not fit, or fails, is owed on.
func (r *Ring) payOwed(size uint32, cost int) {
	owed := r.owed
	r.owed = nil // writing a note comes back here
	for len(owed) > 0 {
		n := owed[0]
		if !r.fits(n.record().size()+size, n.cost()+cost) || r.writeNote(n) != nil {
			break
		}
		owed = owed[1:]
	}
	r.owed = append(owed, r.owed...)
}

// Release drops the oldest segments until at least the given number of bytes came free or only the segment being written is
// left, and returns how many came free. The agent calls it when the journal finds the disk full: an event is worth more
// than the oldest stills.
func (r *Ring) Release(bytes int64) (int64, error) {
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	if r.closed {
		return 0, ErrClosed
	}
	r.retryAt = time.Time{}
	var freed int64
	for freed < bytes && len(r.segments) > 0 && r.segments[0] != r.activeSegment() {
		size := r.segments[0].size
		if err := r.dropOldest(); err != nil {
			return freed, fmt.Errorf("release space of stills: %w", err)
		}
		freed += size
	}
	if r.file != nil {
		r.payOwed(0, 0)
	}
	return freed, nil
}
