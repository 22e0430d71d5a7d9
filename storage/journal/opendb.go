package journal

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// openDB opens j.path into j.db and verifies it. The error is a *damagedError if the file's content is to blame.
func (j *Journal) openDB() error {
	if err := checkMetas(j.path); err != nil {
		return err
	}
	db, file, err := openBolt(j.path, j.boltOptions())
	if err != nil {
		return err
	}
	db.AllocSize = growBytes
	if err := j.load(db); err != nil {
		if _, ok := errors.AsType[*damagedError](err); ok {
			abandon(file)
		} else {
			_ = db.Close()
		}
		return err
	}
	j.db, j.file = db, file
	return nil
}

func (j *Journal) boltOptions() *bolt.Options {
	return &bolt.Options{Timeout: j.opts.LockTimeout, FreelistType: bolt.FreelistMapType,
		InitialMmapSize: initialMapBytes, MaxSize: int(j.opts.MaxBytes)}
}

const (
	// initialMapBytes is address space, not memory. While the file is smaller, a long list never holds up a change.
	initialMapBytes = 256 << 20
	// growBytes is by how much the file grows at a time (it stays sparse until used).
	growBytes = 4 << 20
)

// openBolt opens a database, and says *damagedError where bbolt panics or finds the content wrong.
func openBolt(path string, opts *bolt.Options) (db *bolt.DB, file *os.File, err error) {
	opts.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		f, err := os.OpenFile(name, flag, mode)
		file = f
		return f, err
	}
	err = guarded(func() (err error) {
		db, err = bolt.Open(path, 0o600, opts)
		return err
	})
	if err == nil {
		return db, file, nil
	}
	var errno syscall.Errno
	var damaged *damagedError
	switch {
	case errors.As(err, &damaged):
		if file != nil {
			abandon(file)
		}
		return nil, nil, err
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, nil, ErrLocked
	case errors.As(err, &errno), errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist), errors.Is(err, bolterrors.ErrMaxSizeReached):
		return nil, nil, err
	}
	return nil, nil, &damagedError{err}
}

// abandon lets go of a database that panicked: Close might wait for a lock that the panic left behind. Its mapping stays,
// and would keep the file locked.
func abandon(file *os.File) {
	_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
	_ = file.Close()
}
