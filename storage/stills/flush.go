package stills

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"vmsbridge/storage/vfs"
)

// handle is an open segment file that the writer gives to the flusher.
type handle struct {
	file vfs.File
	seg  *segment

	// mu is held while the file is flushed or closed, never for a write.
	mu     sync.Mutex
	closed bool

	// Ring.appendMu guards these.
	failed  bool   // the last flush went wrong, and nobody knows what of it arrived
	ends    bool   // its first and last block were written since the last flush
	flushed uint32 // up to where the device has it
	end     uint32 // up to where it was written
	block   block
	listing *listing // of a full segment, as long as it is not sealed; else nil
}

// job is a flush of a file as it was when the job was made.
type job struct {
	*handle
	end     uint32
	ends    bool
	block   block
	listing *listing
	sealed  bool
	err     error
}

// job begins one. Ring.appendMu is held.
func (h *handle) job() job {
	j := job{handle: h, end: h.end, ends: h.ends, block: h.block, listing: h.listing, err: h.again()}
	h.ends = false
	return j
}

// run flushes. A full segment is sealed when its records are on the device. The index itself is left to the system: if a
// crash takes it, the records are read instead.
func (j *job) run() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil || j.closed {
		return
	}
	if j.err = j.file.Sync(); j.err != nil || j.listing == nil {
		return
	}
	if j.end, j.err = seal(j.file, j.block, j.listing, j.end); j.err == nil {
		j.ends, j.sealed = true, true
	}
}

// done takes the job down, and returns how many bytes it wrote to the device: whole pages. Ring.appendMu is held.
func (j *job) done() int64 {
	if j.sealed {
		j.handle.listing, j.handle.end = nil, j.end
	}
	if j.err != nil {
		j.failed, j.handle.ends = true, j.handle.ends || j.ends
		return 0
	}
	n := int64((j.end+pageBytes-1)&^(pageBytes-1)) - int64(j.flushed&^(pageBytes-1))
	if j.ends {
		n += pageBytes
	}
	j.flushed = max(j.flushed, j.end)
	return max(n, 0)
}

// again writes once more what a flush that went wrong should have brought to the device: after that, the system takes it
// for written and a second fsync does nothing (A. Rebello and others, "Can Applications Recover from fsync Failures?", USENIX
// ATC 2020). As long as the machine runs, it can be read. Ring.appendMu is held.
func (h *handle) again() error {
	if !h.failed {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	p := make([]byte, windowBytes)
	for _, b := range [][2]uint32{{0, blockBytes}, {max(h.flushed, blockBytes), h.end}, {h.seg.limit, h.seg.limit + blockBytes}} {
		for at := b[0]; at < b[1]; {
			n, err := h.file.ReadAt(p[:min(windowBytes, b[1]-at)], int64(at))
			if n == 0 && err != nil {
				return err
			}
			if _, err := h.file.WriteAt(p[:n], int64(at)); err != nil {
				return err
			}
			at += uint32(n)
		}
	}
	h.failed, h.ends = false, true
	return nil
}

func (h *handle) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	h.closed = true
	return h.file.Close()
}

const (
	// fewBytes is too little for a flush: the device takes 4 KiB for a still of one byte, and where the last page stays open
	// (see closePage), the next flush writes it again. Of 256 KiB, half a page is 0.8 %.
	fewBytes = 256 << 10
	// patience bounds how many times FlushEvery few bytes wait, and longestWait how long, where FlushEvery itself is not longer.
	patience, longestWait = 3, 10 * time.Second
)

// flushLoop flushes every FlushEvery until Close, and when segments became full, if there is something to flush: all stills of that time at once, which
// spares a flash card. Where little waits, it waits for more.
func (r *Ring) flushLoop() {
	ticker := time.NewTicker(r.opts.FlushEvery)
	defer ticker.Stop()
	failing := false
	passes, most := 0, min(patience, int(longestWait/r.opts.FlushEvery))-1
	for {
		full := false
		select {
		case <-r.stop:
			return
		case <-ticker.C:
		case <-r.wake:
			full = true
		}
		r.appendMu.Lock()
		r.expire()
		few := r.fewWait()
		r.appendMu.Unlock()
		r.tell()
		if !full && !failing && few && passes < most {
			passes++
			continue
		}
		if !full {
			passes = 0
		}
		err := r.flush(full)
		switch {
		case err != nil && !failing:
			r.log.Error("stills cannot be flushed to the device; check the disk", "error", err)
		case err == nil && failing:
			r.log.Info("stills are flushed again")
		}
		failing = err != nil
	}
}

// fewWait says whether the stills not yet flushed are worth no flush. One that nothing waits for costs nothing, so that what comes
// next has its whole time. appendMu is held.
func (r *Ring) fewWait() bool {
	var n int64
	for _, l := range r.lanes {
		if l.file != nil && l.dirty {
			n += int64(l.pos - l.file.flushed)
		}
	}
	return len(r.pending) == 0 && n > 0 && n < fewBytes
}

// Flush makes all stills appended so far durable.
func (r *Ring) Flush() error {
	if err := r.flush(false); err != nil {
		return fmt.Errorf("flush stills: %w", err)
	}
	return nil
}

// flush makes what was appended durable; with full, only that of full segments.
func (r *Ring) flush(full bool) error {
	r.flushMu.Lock()
	defer r.flushMu.Unlock()
	r.appendMu.Lock()
	var work []job
	for _, h := range r.pending {
		work = append(work, h.job())
	}
	r.pending = nil
	dir := false
	if !full {
		for _, l := range r.lanes {
			if l.file != nil && l.dirty {
				r.closePage(l)
				l.file.end = l.pos
				work = append(work, l.file.job())
			}
			l.dirty = false
		}
		dir, r.dirDirty = r.dirDirty, false
	}
	r.appendMu.Unlock()
	if len(work) == 0 && !dir {
		return nil
	}

	var dirErr error
	for i := range work {
		work[i].run()
	}
	if dir {
		dirErr = r.fs.SyncDir(r.dir)
	}

	r.appendMu.Lock()
	r.dirDirty = r.dirDirty || dirErr != nil
	errs := []error{dirErr}
	for i := range work {
		j := &work[i]
		r.wrote(j.done())
		errs = append(errs, j.err)
		switch waits := slices.Contains(r.pending, j.handle); {
		case r.isActive(j.seg):
			l := r.lanes[j.seg.lane]
			l.dirty = l.dirty || j.err != nil
		case waits: // it became full meanwhile; the rest of it is flushed next
		case j.err != nil && !j.seg.dead:
			r.pending = append(r.pending, j.handle)
		default:
			_ = j.close() // it is flushed, and read through another
		}
	}
	r.appendMu.Unlock()
	err := errors.Join(errs...)
	r.flushed(err)
	return err
}

// wrote counts bytes written to the device.
func (r *Ring) wrote(n int64) {
	_, up := r.clock()
	r.wear.add(n, up)
}

// finish flushes and closes full segments, and returns those that could not be flushed; if they become too many, they are
// given up. appendMu is held.
func (r *Ring) finish(work []*handle) (failed []*handle) {
	for _, h := range work {
		j := h.job()
		j.run()
		r.wrote(j.done())
		r.flushed(j.err)
		if j.err != nil {
			failed = append(failed, h)
			continue
		}
		_ = h.close() // it is flushed, and read through another
	}
	for len(failed) > mostFailed {
		r.log.Error("a segment of stills could not be flushed to the device; a power cut may cost it", "segment", failed[0].seg.path)
		_ = failed[0].close()
		failed = failed[1:]
	}
	return failed
}

func (r *Ring) flushed(err error) {
	r.stats.flushes.Add(1)
	if err != nil {
		r.stats.flushErrors.Add(1)
	}
}
