package stills

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/storage/vfs"
)

// Options of Open. The zero value of each field but MaxBytes works.
type Options struct {
	// MaxBytes is what the segments may take on disk together, at least 128 KiB.
	MaxBytes int64
	// SegmentBytes is the size of a segment; 0 means 16 MiB. The largest still is a little smaller. If MaxBytes holds
	// fewer than eight segments, they are made smaller: an eighth of MaxBytes, but not less than 4 MiB, and in any case
	// no more than half of MaxBytes.
	SegmentBytes int64
	// FlushEvery is how long a still may be on its way to the device, and so what a power cut costs; 0 means 2 s.
	FlushEvery time.Duration
	// MinFree is how much the ring leaves free on the file system for others (the journal): below it, a new segment costs
	// old ones, down to two. 0 means 32 MiB, negative means none.
	MinFree int64
	// Log receives what someone should know of: damage, trouble of the device. Nil logs nothing.
	Log *slog.Logger
	// Registerer takes the metrics (vmsbridge_stills_…). Nil registers none. One ring a registerer.
	Registerer prometheus.Registerer
	// FS is the file system; nil means vfs.OS.
	FS vfs.FS
}

const (
	minSegmentBytes = 64 << 10
	maxSegmentBytes = 1 << 30
	defaultSegment  = 16 << 20
	smallSegment    = 4 << 20
	defaultMinFree  = 32 << 20
	minSegments     = 2
)

// withDefaults fills in what is zero, and refuses what cannot be.
func (o Options) withDefaults() (Options, error) {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = defaultSegment
	}
	switch {
	case o.MaxBytes < minSegments*minSegmentBytes:
		return o, fmt.Errorf("max_size of %d bytes is too small for a ring of stills: give at least %d, or better a few GiB", o.MaxBytes, minSegments*minSegmentBytes)
	case o.SegmentBytes < minSegmentBytes || o.SegmentBytes > maxSegmentBytes:
		return o, fmt.Errorf("segment_size of %d bytes: must be %d to %d", o.SegmentBytes, minSegmentBytes, maxSegmentBytes)
	}
	if eighth := max(o.MaxBytes/8, smallSegment); o.SegmentBytes > eighth {
		o.SegmentBytes = eighth
	}
	// Whole pages, so that the file takes no more than its size.
	o.SegmentBytes = max(min(o.SegmentBytes, o.MaxBytes/minSegments)&^4095, minSegmentBytes)
	if o.FlushEvery <= 0 {
		o.FlushEvery = 2 * time.Second
	}
	if o.MinFree == 0 {
		o.MinFree = defaultMinFree
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.FS == nil {
		o.FS = vfs.OS
	}
	return o, nil
}

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
