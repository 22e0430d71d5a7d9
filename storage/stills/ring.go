package stills

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"vmsbridge/storage/vfs"
)

// Ring is an open ring. All methods are safe for concurrent use. Find waits for no write to the device; Append may.
type Ring struct {
	dir  string
	opts Options
	fs   vfs.FS
	log  *slog.Logger
	lock io.Closer

	// appendMu guards the writing side. It is taken before mu.
	appendMu sync.Mutex
	segments []*segment // in the order of their numbers; the active one is the last
	file     *handle    // of the active segment
	block    block      // its header
	pos      uint32     // where its next record goes
	spoiled  bool       // a write into it went wrong: it is left at the next append
	next     uint64     // number of the next segment
	pending  []*handle  // of full segments, not yet flushed
	dirty    bool       // the active one has bytes not yet flushed
	dirDirty bool       // a segment was made or deleted since the directory was flushed
	retryAt  time.Time  // after a full disk: no new segment before
	buf      []byte     // the record being written
	owed     []note     // of pruned series, to be written
	closed   bool

	// mu guards the index. It is never held across a call to the file system.
	mu     sync.RWMutex
	series map[seriesKey]*series
	active *segment
	tail   *index               // the active segment's
	gaps   map[string][]gapNote // by camera, sorted by from
	marks  map[seriesKey]uint64 // segment with the note that the series is all pruned

	stats   counters
	flushMu sync.Mutex // one flush at a time
	stop    chan struct{}
	stopped sync.WaitGroup
}

// Open opens the ring in dir, making it if need be, and starts the goroutine that flushes it; Close ends that. One process
// at a time can have it open. It reads the indexes of full segments and the records of the one that was being written, so
// it takes about a millisecond for each gigabyte and a disk's time for up to one segment. What is damaged is skipped,
// counted in Stats, and logged; a segment whose index is missing or damaged gets a new one. If the ring is larger than
// MaxBytes, its oldest segments go.
func Open(dir string, opts Options) (*Ring, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("open stills in %s: %w", dir, err)
	}
	r := &Ring{
		dir: dir, opts: opts, fs: opts.FS, log: opts.Log, next: 1,
		series: map[seriesKey]*series{}, gaps: map[string][]gapNote{}, marks: map[seriesKey]uint64{},
		stop: make(chan struct{}),
	}
	if err := r.open(); err != nil {
		return nil, fmt.Errorf("open stills in %s: %w", dir, err)
	}
	registerMetrics(opts.Registerer, r)
	r.stopped.Go(r.flushLoop)
	return r, nil
}

func (r *Ring) open() (err error) {
	if err := r.fs.MakeDir(r.dir); err != nil {
		return err
	}
	r.lock, err = r.fs.Lock(filepath.Join(r.dir, "LOCK"))
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
	list, err := r.fs.List(r.dir)
	if err != nil {
		return err
	}
	var last *loaded
	for _, e := range list {
		number, ok := segmentNumber(e.Name)
		if !ok {
			if e.Name != "LOCK" {
				r.stats.foreign.Add(1)
			}
			continue
		}
		if last != nil {
			r.adopt(last, false)
		}
		if last, err = load(r.fs, r.dir, e, number); err != nil {
			return err
		}
		if r.next == 1 {
			r.stats.first.Store(number)
		}
		r.next = number + 1
	}
	if last != nil && r.halfMade(last) {
		if err := r.fs.Remove(last.path); err != nil {
			return err
		}
	} else if last != nil {
		r.adopt(last, true)
	}
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	for r.totalLocked() > r.opts.MaxBytes {
		if r.file != nil && len(r.segments) == 1 {
			r.retire()
		}
		if err := r.dropOldest(); err != nil {
			return err
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
	err := r.flush()
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	if r.file != nil {
		err = errors.Join(err, r.file.close())
		r.file = nil
	}
	if err = errors.Join(err, r.lock.Close()); err != nil {
		return fmt.Errorf("close stills in %s: %w", r.dir, err)
	}
	return nil
}

// totalLocked is what the segments take on disk.
func (r *Ring) totalLocked() (total int64) {
	for _, s := range r.segments {
		total += s.size
	}
	return total
}
