package stills

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
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
	segments []*segment // in the order of their numbers
	lanes    [lanes]*lane
	next     uint64    // number of the next segment
	pending  []*handle // of full segments, not yet flushed
	dirDirty bool      // a segment was made or deleted since the directory was flushed
	retryAt  time.Time // after a full disk: no new segment before
	buf      []byte    // the record being written
	owed     []note    // of pruned series and of gaps that last, to be written
	share    share
	steady   steady
	era      uint32 // of the segments that are begun; 0: the clock is true
	closed   bool

	// mu guards the index. It is never held across a call to the file system.
	mu      sync.RWMutex
	series  map[seriesKey]*series
	loading loading
	gaps    map[string][]gapNote // by camera, sorted by from
	marks   map[seriesKey]uint64 // segment with the note that the series is all pruned

	files   *openFiles // those read last
	clock   Clock
	wear    wear
	stats   counters
	told    told
	flushMu sync.Mutex    // one flush at a time
	wake    chan struct{} // of the flusher, before its time; one place, for one call is enough
	stop    chan struct{}
	stopped sync.WaitGroup
}

// lane is a sequence of segments, of which the last one is written.
type lane struct {
	id      int
	file    *handle       // nil: the next record begins a segment
	block   block         // its header
	pos     uint32        // where its next record goes
	began   time.Duration // uptime when the segment was taken up
	spoiled bool          // a write into it went wrong: it is left at the next append
	dirty   bool          // it has bytes not yet flushed
	tail    *index        // its stills; changed under Ring.mu too, for the series point into it
}

// Open opens the ring in dir, making it if need be, and starts the goroutine that flushes it; Close ends that. One process
// at a time can have it open. It reads the indexes of full segments and the records of those that were being written, one for
// each lane, so it takes some milliseconds for each gigabyte and a disk's time for up to two segments. What is damaged is skipped,
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
		lanes: [lanes]*lane{{id: quiet}, {id: loud}}, share: newShare(opts), files: newOpenFiles(opts.FS), clock: opts.Clock, wake: make(chan struct{}, 1), stop: make(chan struct{}),
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
	r.lock, err = r.fs.Lock(filepath.Join(r.dir, lockName))
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
	for failures := 0; r.totalLocked() > r.opts.MaxBytes && failures <= mostDead; {
		if r.victim() == nil { // only segments that are being written
			r.retire(r.lanes[r.segments[0].lane])
		}
		if err := r.dropOldest(); err != nil {
			failures++ // the log says so, and the next segment to be made tries again
		}
	}
	return nil
}

// load takes the segments that are there into the ring.
func (r *Ring) load() error {
	list, err := r.fs.List(r.dir)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(e vfs.Entry) bool {
		_, ok := segmentNumber(e.Name)
		if !ok && e.Name != lockName {
			r.stats.foreign.Add(1)
		}
		return !ok
	})
	if len(list) == 0 {
		return nil
	}
	first, _ := segmentNumber(list[0].Name)
	newest, _ := segmentNumber(list[len(list)-1].Name)
	r.stats.first.Store(first)
	r.next = newest + 1

	readers := make([]*reader, loaders)
	for i := range readers {
		readers[i] = newReader(r.fs, r.dir)
	}
	var late []*loaded          // what is not sealed, or among the last, is adopted when all are known
	var unsealed [lanes]*loaded // the newest segment of each lane, if it is not sealed
	few := len(list) - maxPending - lanes
	for at := 0; at < len(list); at += loadAtOnce {
		chunk := list[at:min(at+loadAtOnce, len(list))]
		found, err := r.readAll(readers, chunk)
		if err != nil {
			return err
		}
		for i, l := range found {
			if l.broken == nil {
				if unsealed[l.lane] = nil; !l.block.sealed() {
					unsealed[l.lane] = l
				}
			}
			r.loading = loading{at + i + 1, len(list)}
			if l.broken == nil && l.sealed && at+i < few {
				r.adopt(l, false)
				spare := &readers[i%loaders].spare
				*spare = append(*spare, l.listing)
			} else {
				late = append(late, l)
			}
		}
		if at/loadAtOnce%collectEvery == collectEvery-1 {
			// What is left of reading would add to the memory that the process has for good.
			runtime.GC()
		}
	}
	for i, l := range late {
		// A crash may leave all segments half made that were begun since the last flush.
		if len(late)-i <= maxPending+lanes && r.halfMade(l) {
			if err := r.fs.Remove(l.path); err != nil {
				r.log.Warn("an empty segment of stills cannot be deleted", "segment", l.path, "error", err)
				r.adopt(l, false)
				continue
			}
			if i < len(late)-1 {
				r.stats.badSegments.Add(1) // or something wiped it
				r.log.Warn("a segment of stills was empty; it is deleted", "segment", l.path)
			}
			continue
		}
		r.adopt(l, l == unsealed[l.lane])
	}
	slices.SortFunc(r.segments, func(a, b *segment) int { return cmp.Compare(a.number, b.number) })
	r.loading = loading{}
	return nil
}

// loading is how many segments Open has looked at, and of how many.
type loading struct{ done, all int }

// expect is how many parts a series is given room for that has n: at Open, as many as it will have if it goes on so, for the
// garbage of growing would add to the memory that the process has for good.
func (l loading) expect(n int) int {
	more := n + n/8 + 8
	if l.done > 0 && n >= 8 {
		return max(more, (n+1)*l.all/l.done+2)
	}
	return more
}

const (
	// loadAtOnce is how many segments are read before they are adopted, and after how many times that garbage is collected.
	loadAtOnce, collectEvery = 64, 4
	// loaders read side by side where there are many segments: a flash card answers several at once sooner.
	loaders = 4
)

// readAll reads some segments' indexes.
func (r *Ring) readAll(readers []*reader, list []vfs.Entry) ([]*loaded, error) {
	found, errs := make([]*loaded, len(list)), make([]error, len(list))
	n := len(readers)
	if len(list) < loadAtOnce {
		n = 1
	}
	var wait sync.WaitGroup
	for w := range n {
		wait.Go(func() {
			for i := w; i < len(list); i += n {
				found[i], errs[i] = r.readOne(readers[w], list[i])
			}
		})
	}
	wait.Wait()
	return found, errors.Join(errs...)
}

// readOne reads a segment's index, and gives it new ends if it has lost both.
func (r *Ring) readOne(rd *reader, e vfs.Entry) (*loaded, error) {
	number, _ := segmentNumber(e.Name)
	l, err := rd.load(e, number)
	if err != nil || l.broken == nil || l.block.number != 0 || l.trouble != nil {
		return l, err
	}
	switch n, err := rd.revive(e, number); {
	case err != nil:
		r.log.Warn("a segment of stills that has lost both ends cannot be given new ones", "segment", l.path, "error", err)
	case n > 0:
		r.stats.badSegments.Add(1)
		r.log.Warn("a segment of stills had lost both ends, and got new ones", "segment", l.path, "records", n)
		return rd.load(e, number)
	}
	return l, nil
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
	r.files.close()
	err := r.flush(false)
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	for _, l := range r.lanes {
		if l.file != nil {
			err = errors.Join(err, l.file.close())
			l.file = nil
		}
	}
	for _, h := range r.pending {
		_ = h.close() // it was not flushed, which err says
	}
	r.pending = nil
	if err = errors.Join(err, r.lock.Close()); err != nil {
		return fmt.Errorf("close stills in %s: %w", r.dir, err)
	}
	return nil
}

const lockName = "LOCK"

// isActive says whether a segment is being written.
func (r *Ring) isActive(s *segment) bool {
	h := r.lanes[s.lane].file
	return h != nil && h.seg == s
}

// totalLocked is what the segments take on disk.
func (r *Ring) totalLocked() (total int64) {
	for _, s := range r.segments {
		total += s.size
	}
	return total
}
