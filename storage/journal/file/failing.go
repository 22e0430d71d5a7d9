package file

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/storage/vfs"
)

// note keeps how the last change went. On a full disk small ones are stored between others that are
// not: only a probe finds out that there is room again.
func (f *File) note(err error) {
	if last := f.failing.Load(); err == nil && last != nil && !errors.Is(*last, ErrFull) {
		f.failing.Store(nil)
	} else if err == nil {
		return
	} else if !errors.Is(err, ErrClosed) {
		f.failing.Store(&err)
	}
}

// Failing is why the last change could not be stored, or why the next will not be; nil if all is
// well. It asks the file system where the file is, and writes nothing.
func (f *File) Failing() error {
	f.dbMu.RLock()
	file := f.file
	f.dbMu.RUnlock()
	last := f.failing.Load()
	if file != nil {
		switch err := guard.InPlace(file, f.path); {
		case errors.Is(err, guard.ErrGone):
			return err
		case err == nil && last != nil && errors.Is(*last, guard.ErrGone):
			return nil // it is back
		}
	}
	if last != nil {
		return *last
	}
	return nil
}

const (
	// roomBytes must be free on the disk for what comes next: the least that stills.min_free can
	// be.
	roomBytes = 1 << 20
	// sparePages is how many bytes of free pages the file must have where the disk has no room: one
	// that was pruned goes on in them. A few are in every file, for a while.
	sparePages = 4 * growBytes
	// probeBytes are written, and go again at once, where the last change found no room: a change
	// that needs no new pages would be stored, and say nothing.
	probeBytes = 64 << 10
)

// Probe tries whether changes can be stored, by one that changes nothing. Where there is no room
// for the next ones it gives ErrFull, and writes nothing.
func (f *File) Probe() error {
	if f.lacksRoom() {
		err := fmt.Errorf("%w (%w)", ErrFull, syscall.ENOSPC)
		f.note(err)
		return err
	}
	if last := f.failing.Load(); last == nil || !errors.Is(*last, ErrFull) {
		return f.Do(func(t *schema.Tx) error {
			format := t.Bucket(schema.Format)
			return format.Put(schema.KeyVersion, bytes.Clone(format.Get(schema.KeyVersion)))
		})
	}
	err := f.Do(func(t *schema.Tx) error {
		return t.Bucket(schema.Format).Put(schema.KeyProbe, make([]byte, probeBytes))
	})
	if err == nil {
		err = f.Do(func(t *schema.Tx) error { return t.Bucket(schema.Format).Delete(schema.KeyProbe) })
	}
	if err == nil {
		f.failing.Store(nil)
	}
	return err
}

// Doubtful says whether there is a reason to Probe: the last change could not be stored, or there
// is no room for the next ones.
func (f *File) Doubtful() bool { return f.failing.Load() != nil || f.lacksRoom() }

// lacksRoom asks the file system, and writes nothing.
func (f *File) lacksRoom() bool {
	free, err := vfs.OS.Free(filepath.Dir(f.path))
	if err != nil || free >= roomBytes {
		return false
	}
	f.dbMu.RLock()
	defer f.dbMu.RUnlock()
	return f.db != nil && freeBytes(f.db) < sparePages
}
