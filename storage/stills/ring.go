package stills

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
)

// Ring is an open ring. All methods are safe for concurrent use. Find waits for no write to the
// device; Append may.
type Ring struct {
	dir  string
	opts Options
	fs   vfs.FS
	log  *slog.Logger
	lock io.Closer

	// appendMu guards the writing side. flushMu is taken before it.
	appendMu sync.Mutex
	segments []*member // in the order of their numbers
	lanes    [segment.Lanes]*lane
	next     uint64         // number of the next segment
	pending  []*member      // full segments, not yet flushed
	dirDirty bool           // a segment was made or deleted since the directory was flushed
	retryAt  time.Time      // after a full disk: no new segment before
	buf      []byte         // the record being written
	owed     []segment.Note // of pruned series and of gaps that last, to be written
	share    accounts
	steady   steady
	era      uint32 // of the segments that are begun; 0: the clock is true
	shifts   struct {
		mu sync.Mutex // guards of
		of map[uint32]time.Duration
	} // by which eras were wrong, as far as it is known
	names  names
	closed bool

	index *index           // it has a lock of its own, taken after appendMu
	files *segment.Handles // those read last
	clock Clock
	wear  wearMeter
	stats counters
	sizes struct{ segments, bytes, loud atomic.Int64 } // sums of the segments, written under appendMu
	told  struct {
		mu                        sync.Mutex
		stills, segments, indexes uint64
		until                     time.Duration // uptime before which nothing is told; 0: nothing was
	} // the damage that OnDamage knows
	flushMu sync.Mutex    // one flush at a time
	wake    chan struct{} // of the flusher, before its time; one place, for one call is enough
	stop    chan struct{}
	stopped sync.WaitGroup
}

// Open opens the ring in dir, making it if need be, and starts the goroutine that flushes it; Close
// ends that. One process at a time can have it open. It reads the indexes of full segments and the
// records of those that were being written, one for each lane, so it takes some milliseconds for
// each gigabyte and a disk's time for up to two segments. What is damaged is skipped, counted in
// Stats, and logged; a segment whose index is missing or damaged gets a new one. If the ring is
// larger than MaxBytes, its oldest segments go.
func Open(dir string, opts Options) (*Ring, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("open stills in %s: %w", dir, err)
	}
	r := &Ring{
		dir: dir, opts: opts, fs: opts.FS, log: opts.Log, next: 1,
		lanes: [segment.Lanes]*lane{{id: segment.Quiet}, {id: segment.Loud}},
		share: newAccounts(opts.MaxBytes, opts.SegmentBytes, opts.Cameras),
		index: newIndex(), files: segment.NewHandles(opts.FS), clock: opts.Clock,
		wake: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	if err := r.open(); err != nil {
		return nil, fmt.Errorf("open stills in %s: %w", dir, err)
	}
	registerMetrics(opts.Registerer, r)
	r.tell()
	r.stopped.Go(r.flushLoop)
	return r, nil
}

func (r *Ring) open() (err error) {
	if err := r.fs.MakeDir(r.dir); err != nil {
		return err
	}
	r.lock, err = r.fs.Lock(filepath.Join(r.dir, segment.LockName))
	if errors.Is(err, vfs.ErrLocked) {
		return errors.New("another process has the ring open: is vmsbridge already running? stop it first")
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			r.lock.Close()
		}
	}()
	if err := r.load(); err != nil {
		return err
	}
	r.dirDirty = true // whatever an earlier process left
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	r.summed()
	for failures := 0; r.totalLocked() > r.opts.MaxBytes && failures <= mostDead; {
		if r.victim() == nil { // only segments that are being written
			r.retire(r.lanes[r.segments[0].Lane])
		}
		if err := r.dropOldest(); err != nil {
			failures++ // the log says so, and the next segment to be made tries again
		}
	}
	return nil
}

// Close flushes and ends the ring. A second Close does nothing.
func (r *Ring) Close() error {
	r.appendMu.Lock()
	if r.closed {
		r.appendMu.Unlock()
		return nil
	}
	r.closed = true
	r.appendMu.Unlock()
	close(r.stop)
	r.stopped.Wait()
	r.files.Close()
	err := r.flush(false)
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	for _, l := range r.lanes {
		if l.file != nil {
			err = errors.Join(err, l.file.Close())
			l.seg, l.file = nil, nil
		}
	}
	for _, m := range r.pending {
		_ = m.writer.Close() // it was not flushed, which err says
	}
	r.pending = nil
	if err = errors.Join(err, r.lock.Close()); err != nil {
		return fmt.Errorf("close stills in %s: %w", r.dir, err)
	}
	return nil
}
