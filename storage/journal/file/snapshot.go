package file

import (
	"errors"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/storage/vfs"
)

// What Do writes is in the segments with the next checkpoint. What the file held before there were
// any gets into them by a snapshot: step by step all rows are written once more, between those that
// change meanwhile. When the segments have grown to twice that, the next snapshot makes those
// before it needless.

const (
	snapshotStep  = 512 << 10
	snapshotSpare = 16 << 20 // to which the segments grow in any case
	segmentsPause = time.Minute
)

// snapshot is one that is under way.
type snapshot struct {
	start uint64 // number of its first block
	at    schema.RowPlace
	done  bool // it is whole with the next block
}

// findSegments takes the segments that belong to the open file as it is, and else begins new ones.
// Nobody else has f.db yet, and the file was not changed since it was opened.
func (f *File) findSegments() error {
	f.segments = openSegments(f.path, true)
	fits := false
	err := guard.Run(func() error {
		return f.db.View(func(tx *bolt.Tx) error {
			if s := f.segments; s != nil {
				same, reach := s.compare(tx)
				fits = same && reach && s.last.since != 0 && (f.redo != nil || uint64(tx.ID()) == s.last.closed)
			}
			return nil
		})
	})
	if err == nil && fits {
		err = f.segments.confirm()
	}
	if !fits && err == nil {
		if f.segments != nil {
			f.segments.close()
		}
		f.segments = newSegments(f.path) // those that are there go with the first block
	}
	return err
}

// compare says whether the state of a file names these segments, and whether they reach to it.
func (s *segments) compare(tx *bolt.Tx) (same, reach bool) {
	format := tx.Bucket(schema.Format)
	if format == nil {
		return false, false
	}
	key := format.Get(schema.KeySegments)
	same = len(key) == 16 && be.Uint64(key) == s.last.id
	return same, same && be.Uint64(key[8:]) <= s.last.number
}

// giveUpSegments takes the segments away, because of why, until it is tried again to write any.
func (f *File) giveUpSegments(why error) {
	f.log.Warn("the journal's segments are removed, and made again when it can be done: until then damage to the "+
		"journal's file costs what is in the damaged places", "error", why)
	f.segments.close()
	_ = removeSegments(f.path)
	f.segments = newSegments(f.path)
	f.segments.off, f.segmentsNext = true, time.Now().Add(segmentsPause)
}

// freeSegments takes the segments away to make room on the disk for an event.
func (f *File) freeSegments() (made bool, err error) {
	f.pointMu.Lock()
	defer f.pointMu.Unlock()
	if f.segments.off || len(f.segments.files) == 0 {
		return false, nil
	}
	f.giveUpSegments(ErrFull)
	f.snapshot = nil
	return true, nil
}

// writeAlone writes a block of what the file, which has no log, has taken since the last one.
// commitMu is held, or nobody else has f.db.
func (f *File) writeAlone() {
	f.pointMu.Lock()
	defer f.pointMu.Unlock()
	err := guard.Run(func() error {
		return f.db.View(func(tx *bolt.Tx) error {
			if err := f.lookAfterSegments(); err != nil {
				return err
			}
			rows, b := f.takePending()
			if b.closed = uint64(tx.ID()); len(rows) == 0 || f.segments.off {
				return nil
			}
			return f.segments.append(rows, b)
		})
	})
	if _, damaged := errors.AsType[*guard.DamageError](err); damaged {
		f.doubt(err)
	} else if err != nil {
		f.giveUpSegments(err)
	}
}

// beginSnapshot begins one if there is none, and if the file is small, ends it too. No block is
// being written, and either commitMu is held or nobody else has f.db.
func (f *File) beginSnapshot() error {
	if f.segments.last.since != 0 && !f.grown() || f.snapshot != nil {
		return nil
	}
	f.snapshot = &snapshot{start: f.segments.last.number + 1}
	info, err := f.file.Stat()
	for err == nil && info.Size() <= f.opts.CheckAtOnce && !f.snapshot.done {
		err = f.stepSnapshot()
	}
	return err
}

// grown says whether the segments hold much that is needless.
func (f *File) grown() bool {
	return f.segments.bytes() > 2*int64(f.segments.last.base)+snapshotSpare
}

// stepSnapshot takes the next rows. The caller is as beginSnapshot's.
func (f *File) stepSnapshot() error {
	return guard.Run(func() error {
		return f.db.View(func(tx *bolt.Tx) error {
			rows, at, done, err := schema.Rows(tx, f.pending, f.snapshot.at, snapshotStep)
			if err != nil {
				return guard.Damaged(err)
			}
			f.pending, f.snapshot.at, f.snapshot.done = rows, at, done
			return nil
		})
	})
}

// nameSegments has the state of the file say which block has what led to it.
func (f *File) nameSegments(tx *bolt.Tx) error {
	return guard.Bucket(tx, schema.Format).Put(schema.KeySegments, f.segmentsKey())
}

// segmentsKey says, in a state of the file, which block has what led to it.
func (f *File) segmentsKey() []byte {
	return be.AppendUint64(be.AppendUint64(nil, f.segments.last.id), f.segments.last.number+1)
}

// takePending is what the next block gets.
func (f *File) takePending() (rows []byte, b block) {
	rows, f.pending = f.pending, nil
	b.since, b.base = f.segments.last.since, f.segments.last.base
	if f.snapshot != nil && f.snapshot.done {
		b.since, f.snapshot = f.snapshot.start, nil
	}
	if f.redo != nil {
		b.redo, b.epoch = f.redo.id, f.redo.epoch
	}
	return rows, b
}

// writeBlock writes a block. Where there is no room for it the segments go, since an event needs it
// more. No other block is being written.
func (f *File) writeBlock(rows []byte, b block) error {
	if f.segments.off {
		return nil
	}
	err := f.segments.append(rows, b)
	if err == nil || !vfs.IsFull(err) {
		return err
	}
	f.giveUpSegments(err)
	return nil
}

// lookAfterSegments begins a snapshot if one is due, or goes on with the one under way. commitMu
// and pointMu are held.
func (f *File) lookAfterSegments() error {
	s := f.segments
	if s.off && time.Now().After(f.segmentsNext) {
		s.off, f.snapshot = false, nil
	}
	if s.off {
		f.snapshot = nil
		return nil
	}
	if err := f.beginSnapshot(); err != nil || f.snapshot == nil || f.snapshot.done {
		return err
	}
	return f.stepSnapshot()
}

// copyRows makes the snapshot of a large file, beside all other calls.
func (f *File) copyRows(stop <-chan struct{}) {
	for {
		began := time.Now()
		if !f.snapshotBeside() {
			return
		}
		select {
		case <-stop:
			return
		case <-time.After(max(time.Since(began), 10*time.Millisecond)): // as long as it has worked
		}
	}
}

// endBlocks writes the last block: tx makes of the file one that stands alone, and nothing follows.
// Where it cannot be written the segments do not fit the file any more, and are made again.
func (f *File) endBlocks(tx *bolt.Tx) error {
	key := f.segmentsKey()
	rows, b := f.takePending()
	b.closed = uint64(tx.ID())
	if err := f.writeBlock(rows, b); err != nil {
		f.log.Warn("the journal's segments could not be written to their end, and are made again", "error", err)
		return guard.Bucket(tx, schema.Format).Delete(schema.KeySegments)
	}
	return guard.Bucket(tx, schema.Format).Put(schema.KeySegments, key)
}

// closeSegments lets go of the segments as they are.
func (f *File) closeSegments() {
	if f.segments != nil {
		f.segments.close()
	}
	f.segments, f.snapshot, f.pending = nil, nil, nil
}
