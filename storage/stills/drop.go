package stills

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"vmsbridge/storage/stills/segment"
)

func isFileLimit(err error) bool { return errors.Is(err, syscall.EFBIG) }

// mostDead is how many segments that cannot be deleted are passed over. A damaged file system
// refuses to delete a file or two; where it refuses all, none is to leave the index in vain.
const mostDead = 4

// dropOldest drops the segment whose turn it is. One that cannot be deleted is tried once more the
// next time, and if it still cannot, the next one goes: a file that is stuck must not end the
// recording.
func (r *Ring) dropOldest() error {
	var stuck []*member
	for {
		s := r.victim(stuck...)
		if s == nil {
			return ErrFull
		}
		again := s.dead
		err := r.drop(s)
		if err == nil {
			return nil
		}
		if !again || r.hopeless(err) {
			return err
		}
		stuck = append(stuck, s)
	}
}

// hopeless says that no other segment could be deleted either, where deleting one gave err.
func (r *Ring) hopeless(err error) bool {
	dead := 0
	for _, s := range r.segments {
		if s.dead {
			dead++
		}
	}
	return dead > mostDead || errors.Is(err, syscall.EROFS)
}

// drop forgets a segment and deletes its file. It must not be one that is being written. If the
// file cannot be deleted, the segment stays in the list, empty, and its bytes go on to count.
func (r *Ring) drop(s *member) error {
	if !s.dead {
		r.owed = append(r.owed, r.index.Drop(s, maxOwed-len(r.owed))...)
		s.dead = true
		r.stats.dropped.Add(1)
	}
	// A file that is still open would go on to take its space. If it is being flushed right now,
	// this waits.
	r.files.Drop(&s.File)
	if s.writer != nil {
		r.pending = slices.DeleteFunc(r.pending, func(m *member) bool { return m == s })
		_ = s.writer.Close()
		s.writer = nil
	}
	if err := segment.Drop(r.fs, r.dir, s.Number); err != nil && !errors.Is(err, os.ErrNotExist) {
		if !s.told {
			s.told = true
			r.log.Warn("an old segment of stills cannot be deleted; its space goes on to count", "segment", s.Path,
				"error", err)
		}
		return fmt.Errorf("delete an old segment: %w", err)
	}
	r.segments = slices.Delete(r.segments, slices.Index(r.segments, s), slices.Index(r.segments, s)+1)
	r.summed()
	r.names.dropped = append(r.names.dropped, s.Number)
	r.dirDirty = true
	return nil
}

// maxOwed bounds the notes that a ring carries along for cameras that no longer record.
const maxOwed = 1000

// payOwed writes the notes that are owed into the quiet lane's segment, as long as a record of the
// given size and cost still fits behind them. What does not fit, or fails, is owed on.
func (r *Ring) payOwed(size uint32, cost int) {
	owed := r.owed
	r.owed = nil // writing a note comes back here
	for len(owed) > 0 {
		n := owed[0]
		if !r.outdated(n) {
			if !r.lanes[segment.Quiet].fits(n.Size()+size, n.Cost()+cost) || r.writeNote(n) != nil {
				break
			}
		}
		owed = owed[1:]
	}
	r.owed = append(owed, r.owed...)
}

// outdated says whether a gap that was owed has been told of since.
func (r *Ring) outdated(n segment.Note) bool {
	return n.Type == segment.TypeGap && r.index.GapSince(n.Camera, n.From)
}

// Release drops segments, the oldest first as Append does, until at least the given number of bytes
// came free or only those being written are left, and returns how many came free. The agent calls
// it when the journal finds the disk full: an event is worth more than the oldest stills.
func (r *Ring) Release(bytes int64) (int64, error) {
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	if r.closed {
		return 0, ErrClosed
	}
	r.retryAt = time.Time{}
	var freed int64
	for freed < bytes && r.victim() != nil {
		had := r.totalLocked()
		if err := r.dropOldest(); err != nil {
			return freed, fmt.Errorf("release space of stills: %w", err)
		}
		freed += had - r.totalLocked()
	}
	if r.lanes[segment.Quiet].file != nil {
		r.payOwed(0, 0)
	}
	return freed, nil
}
