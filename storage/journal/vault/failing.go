package vault

import (
	"errors"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/table"
)

// note keeps how the last change went.
func (f *File) note(err error) {
	if err == nil {
		f.failing.Store(nil)
	} else if !errors.Is(err, ErrClosed) {
		f.failing.Store(&err)
	}
}

// Failing is why the last change could not be stored, or why the next will not be; nil if all is well. It asks the file system where the file
// is, and writes nothing.
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

// Probe tries whether changes can be stored, by one that changes nothing.
func (f *File) Probe() error {
	return f.Do(func(t *table.Tx) error {
		return t.Bucket(form.Format).Put(form.KeyVersion, []byte{form.Version})
	})
}
