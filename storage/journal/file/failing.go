package file

import (
	"bytes"
	"errors"
	"path/filepath"

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

// A probe for room is written where less than lowBytes are free, or the last change found none:
// probeBytes, which go again at once. A change that needs no new pages is stored on a full disk
// too, and would say nothing.
const (
	lowBytes   = 4 * growBytes
	probeBytes = 64 << 10
)

// Probe tries whether changes can be stored, by one that changes nothing.
func (f *File) Probe() error {
	if !f.lacksRoom() {
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

// Doubtful says whether there is a reason to Probe: the last change could not be stored, or the
// next may not be.
func (f *File) Doubtful() bool { return f.failing.Load() != nil || f.lacksRoom() }

// lacksRoom says whether what Probe writes is to need room.
func (f *File) lacksRoom() bool {
	if last := f.failing.Load(); last != nil && errors.Is(*last, ErrFull) {
		return true
	}
	free, err := vfs.OS.Free(filepath.Dir(f.path))
	return err == nil && free < lowBytes
}
