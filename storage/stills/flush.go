package stills

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
)

const (
	// fewBytes is too little for a flush: the device takes 4 KiB for a still of one byte, and where
	// the last page stays open (see segment.Writer.ClosePage), the next flush writes it again. Of
	// 256 KiB, half a page is 0.8 %.
	fewBytes = 256 << 10
	// patience bounds how many times FlushEvery few bytes wait, and longestWait how long, where
	// FlushEvery itself is not longer.
	patience, longestWait = 3, 10 * time.Second
)

// flushLoop flushes every FlushEvery until Close, and when segments became full, if there is
// something to flush: all stills of that time at once, which spares a flash card. Where little
// waits, it waits for more.
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
			r.log.Error("stills cannot be flushed to the device", "error", err, "remedy", vfs.Remedy(err, "the stills"))
		case err == nil && failing:
			r.log.Info("stills are flushed again")
		}
		failing = err != nil
	}
}

// fewWait says whether the stills not yet flushed are worth no flush. One that nothing waits for
// costs nothing, so that what comes next has its whole time. appendMu is held.
func (r *Ring) fewWait() bool {
	var n int64
	for _, l := range r.lanes {
		if l.file != nil && l.file.Dirty() {
			n += int64(l.file.Unflushed())
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
	type job struct {
		seg *member
		segment.Flushing
	}
	var work []job
	for _, m := range r.pending {
		work = append(work, job{m, m.writer.BeginFlush()})
	}
	r.pending = nil
	dir := false
	var names segment.Manifest
	var dropped []uint64
	if !full {
		for _, l := range r.lanes {
			if l.file != nil && l.file.Dirty() {
				l.file.ClosePage(l.tail.Bytes)
				work = append(work, job{l.seg, l.file.BeginFlush()})
			}
		}
		if dir, r.dirDirty = r.dirDirty, false; dir {
			names, dropped = r.manifest()
		}
	}
	r.appendMu.Unlock()
	if len(work) == 0 && !dir {
		return nil
	}

	var dirErr error
	for i := range work {
		ended := r.opts.Timed()
		work[i].Run()
		ended()
	}
	if dir {
		if dirErr = r.fs.SyncDir(r.dir); dirErr == nil {
			dirErr = r.list(names, dropped)
		}
	}

	r.appendMu.Lock()
	r.dirDirty = r.dirDirty || dirErr != nil
	errs := []error{dirErr}
	for i := range work {
		j := &work[i]
		r.wrote(j.Done())
		errs = append(errs, j.Err)
		switch waits := slices.Contains(r.pending, j.seg); {
		case r.isActive(j.seg): // it goes on being written
		case waits: // it became full meanwhile; the rest of it is flushed next
		case j.Err != nil && !j.seg.dead:
			r.pending = append(r.pending, j.seg)
		default:
			_ = j.Close() // it is flushed, and read through another
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
	r.wear.Add(n, up)
}

// finish flushes and closes full segments, and returns those that could not be flushed; if they
// become too many, they are given up. appendMu is held.
func (r *Ring) finish(work []*member) (failed []*member) {
	for _, m := range work {
		f := m.writer.BeginFlush()
		f.Run()
		r.wrote(f.Done())
		r.flushed(f.Err)
		if f.Err != nil {
			failed = append(failed, m)
			continue
		}
		_ = m.writer.Close() // it is flushed, and read through another
	}
	for len(failed) > mostFailed {
		r.log.Error("a segment of stills could not be flushed to the device; a power cut may cost it", "segment",
			failed[0].Path)
		_ = failed[0].writer.Close()
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
