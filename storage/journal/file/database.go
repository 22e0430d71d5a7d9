package file

import (
	"errors"
	"math"
	"math/bits"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
)

// openDB opens f.path into f.db and verifies it; lazy leaves the pages of a large file for later.
// The error is a *guard.DamageError if the file's content is to blame.
func (f *File) openDB(lazy bool) error {
	if err := guard.Metas(f.path); err != nil {
		return err
	}
	db, file, err := guard.Open(f.path, f.boltOptions())
	if err != nil {
		return err
	}
	db.AllocSize = growBytes
	if err := f.load(db, lazy); err != nil {
		if _, ok := errors.AsType[*guard.DamageError](err); ok {
			guard.Abandon(file)
		} else {
			_ = db.Close()
		}
		return err
	}
	f.db, f.file = db, file
	return nil
}

func (f *File) boltOptions() *bolt.Options {
	return &bolt.Options{Timeout: f.opts.LockTimeout, FreelistType: bolt.FreelistMapType,
		InitialMmapSize: initialMapBytes, MaxSize: int(min(f.opts.MaxBytes, math.MaxInt))}
}

const (
	// initialMapBytes is address space, not memory: 256 MiB, or 16 where addresses have 32 bits.
	// While the file is smaller, a long list never holds up a change.
	initialMapBytes = 256 << 20 >> (4 * (64/bits.UintSize - 1))
	// growBytes is by how much the file grows at a time (it stays sparse until used).
	growBytes = 4 << 20
)
