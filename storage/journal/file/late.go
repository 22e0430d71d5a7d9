package file

import (
	"errors"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/storage/vfs"
)

// settle has db take the change that was answered last, if it has not yet. Every transaction begins
// with it, so that nobody misses what was promised. The caller holds dbMu.
func (f *File) settle() {
	f.lateMu.Lock()
	defer f.lateMu.Unlock()
	if f.late == nil {
		return
	}
	tx := f.late
	f.late = nil
	err := guard.Run(func() error {
		shows, err := f.commitPages(tx)
		if shows {
			return nil
		}
		return err
	})
	if err != nil {
		f.doubt(err)
	}
}

// settleBeside does what is left of a change, beside all else. The caller holds commitMu.
func (f *File) settleBeside() {
	rest := func() {
		f.dbMu.RLock()
		f.settle()
		f.dbMu.RUnlock()
		f.checkpointBeside()
	}
	if f.opts.Beside != nil {
		f.opts.Beside(rest)
		return
	}
	f.beside.Go(rest)
}

// roomy says whether nothing but the device itself keeps the file from taking a change.
func (f *File) roomy(tx *bolt.Tx) bool {
	free, err := vfs.OS.Free(filepath.Dir(f.path))
	return err == nil && free >= logRoom && (f.opts.MaxBytes == 0 || tx.Size()+logRoom/4 < f.maxBytes())
}

// pageBytes is how much of the file a transaction has written.
func pageBytes(tx *bolt.Tx) int64 {
	s := tx.Stats()
	return s.GetPageAlloc()
}

// NoteActivity notes, durably, that ongoing events were last known to go on at these times, in
// milliseconds since 1970, by id. Options.Activity has them already. It is one small write: the
// file itself takes them at a checkpoint, or at the start after a crash.
func (f *File) NoteActivity(last map[string]int64) error {
	f.commitMu.Lock()
	err := errNoRoom
	if f.doubtful.Load() == nil {
		if _, held := f.hold(); held == nil {
			if f.redo != nil {
				err = errors.Join(guard.InPlace(f.file, f.path), f.redo.append(schema.ActivityRecord(last)))
			}
			f.dbMu.RUnlock()
		}
	}
	f.commitMu.Unlock()
	if err == nil || errors.Is(err, guard.ErrGone) {
		return err
	}
	return f.Do(func(t *schema.Tx) error {
		ongoing := t.Bucket(schema.Ongoing)
		for id, ms := range last {
			if noted := ongoing.Get([]byte(id)); len(noted) == 8 && ms > schema.KeyMS(noted) {
				if err := ongoing.Put([]byte(id), schema.MSKey(ms)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
