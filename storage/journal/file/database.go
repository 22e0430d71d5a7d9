package file

import (
	"math"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
)

// openDB opens f.path into f.db, brings it up to date with the log that it needs, if there is one,
// and verifies it; lazy leaves the pages of a large file for later. The error is a
// *guard.DamageError if the file's content is to blame.
func (f *File) openDB(lazy bool) error {
	r, err := f.findRedo()
	if err != nil {
		return err
	}
	err = guard.Metas(f.path)
	opts := f.boltOptions()
	opts.NoSync, opts.NoGrowSync = r != nil, r != nil
	if err == nil {
		f.db, f.file, err = guard.Open(f.path, opts)
	}
	if err != nil {
		if f.db = nil; r != nil {
			r.close()
		}
		return err
	}
	f.db.AllocSize = growBytes
	if r != nil {
		f.follow(r)
		err = f.replay(r)
	}
	if err == nil && r == nil {
		err = guard.SettleMeta(f.db, f.file)
	}
	if err == nil {
		err = f.findSegments()
	}
	if err == nil {
		err = f.load(f.db, lazy)
	}
	if err == nil {
		err = f.beginSnapshot()
	}
	if err == nil && r != nil {
		err = f.checkpoint()
	}
	if err != nil {
		f.leave(err)
		return err
	}
	f.attachNext = time.Time{}
	if f.attachAgain(); f.redo == nil && guard.Run(func() error { return f.db.Update(f.nameSegments) }) == nil {
		f.writeAlone()
	}
	return nil
}

func (f *File) boltOptions() *bolt.Options {
	return &bolt.Options{Timeout: f.opts.LockTimeout, FreelistType: bolt.FreelistMapType,
		InitialMmapSize: mapBytes, MaxSize: int(min(f.maxBytes(), math.MaxInt))}
}

// growBytes is by how much the file grows at a time (it stays sparse until used).
const growBytes = 4 << 20

// maxBytes is how large the file may be, so that it and the log are within Options.MaxBytes.
func (f *File) maxBytes() int64 {
	if f.opts.MaxBytes < 8*redoBytes {
		return f.opts.MaxBytes
	}
	return f.opts.MaxBytes - redoBytes
}
