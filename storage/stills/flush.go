package stills

import (
	"errors"
	"fmt"
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
}

func (h *handle) sync() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	return h.file.Sync()
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

// finish flushes and closes.
func (h *handle) finish() error { return errors.Join(h.sync(), h.close()) }

// flushLoop flushes every FlushEvery until Close, if there is something to flush: all stills of that time at once, which
// spares a flash card.
func (r *Ring) flushLoop() {
	ticker := time.NewTicker(r.opts.FlushEvery)
	defer ticker.Stop()
	failing := false
	for {
		select {
		case <-r.stop:
			return
		case <-ticker.C:
		}
		err := r.flush()
		switch {
		case err != nil && !failing:
			r.log.Error("stills cannot be flushed to the device; check the disk", "error", err)
		case err == nil && failing:
			r.log.Info("stills are flushed again")
		}
		failing = err != nil
	}
}

// Flush makes all stills appended so far durable.
func (r *Ring) Flush() error {
	if err := r.flush(); err != nil {
		return fmt.Errorf("flush stills: %w", err)
	}
	return nil
}

func (r *Ring) flush() error {
	r.flushMu.Lock()
	defer r.flushMu.Unlock()
	r.appendMu.Lock()
	pending, active, dir := r.pending, r.file, r.dirDirty
	if !r.dirty {
		active = nil
	}
	r.pending, r.dirty, r.dirDirty = nil, false, false
	r.appendMu.Unlock()

	var errs []error
	for _, h := range pending {
		errs = append(errs, h.finish())
	}
	var activeErr, dirErr error
	if active != nil {
		activeErr = active.sync()
	}
	if dir {
		dirErr = r.fs.SyncDir(r.dir)
	}
	if activeErr != nil || dirErr != nil {
		r.appendMu.Lock()
		r.dirty = r.dirty || activeErr != nil
		r.dirDirty = r.dirDirty || dirErr != nil
		r.appendMu.Unlock()
	}
	err := errors.Join(append(errs, activeErr, dirErr)...)
	if active != nil || len(pending) > 0 || dir {
		r.flushed(err)
	}
	return err
}

func (r *Ring) flushed(err error) {
	r.stats.flushes.Add(1)
	if err != nil {
		r.stats.flushErrors.Add(1)
	}
}
