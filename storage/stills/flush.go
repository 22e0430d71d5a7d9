package stills

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

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
		if l.file != nil && l.file.isDirty() {
			n += int64(l.file.unflushed())
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

// job is a flush of a segment.
type job struct {
	seg *member
	flushing
}

// flush makes what was appended durable; with full, only that of full segments.
func (r *Ring) flush(full bool) error {
	r.flushMu.Lock()
	defer r.flushMu.Unlock()
	r.appendMu.Lock()
	var work []job
	for _, m := range r.pending {
		work = append(work, job{m, m.writer.flush()})
	}
	r.pending = nil
	dir := false
	if !full {
		for _, l := range r.lanes {
			if l.file != nil && l.file.isDirty() {
				l.file.closePage(l.tail.bytes)
				work = append(work, job{l.seg, l.file.flush()})
			}
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
		switch waits := slices.Contains(r.pending, j.seg); {
		case r.isActive(j.seg): // it goes on being written
		case waits: // it became full meanwhile; the rest of it is flushed next
		case j.err != nil && !j.seg.dead:
			r.pending = append(r.pending, j.seg)
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
func (r *Ring) finish(work []*member) (failed []*member) {
	for _, m := range work {
		f := m.writer.flush()
		f.run()
		r.wrote(f.done())
		r.flushed(f.err)
		if f.err != nil {
			failed = append(failed, m)
			continue
		}
		_ = m.writer.close() // it is flushed, and read through another
	}
	for len(failed) > mostFailed {
		r.log.Error("a segment of stills could not be flushed to the device; a power cut may cost it", "segment", failed[0].path)
		_ = failed[0].writer.close()
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
