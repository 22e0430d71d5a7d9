package guard

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// ErrLocked says that another process holds the file.
var ErrLocked = errors.New("another process has the file open: is vmsbridge (or vmscloud) already running? stop " +
	"it first")

// Open opens a database, and says *DamageError where bbolt panics or finds the content wrong.
func Open(path string, opts *bolt.Options) (db *bolt.DB, file *os.File, err error) {
	opts.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		f, err := os.OpenFile(name, flag, mode)
		file = f
		return f, err
	}
	err = Run(func() (err error) {
		db, err = bolt.Open(path, 0o600, opts)
		return err
	})
	if err == nil {
		return db, file, nil
	}
	var errno syscall.Errno
	var damaged *DamageError
	switch {
	case errors.As(err, &damaged):
		if file != nil {
			Abandon(file)
		}
		return nil, nil, err
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, nil, ErrLocked
	case errors.As(err, &errno), errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist),
		errors.Is(err, bolterrors.ErrMaxSizeReached):
		return nil, nil, err
	}
	return nil, nil, Damaged(err)
}

// View shows read the file at path, which nobody changes, and lets go of it. It writes nothing.
// Damage gives *DamageError.
func View(path string, read func(*bolt.Tx) error) error {
	db, file, err := Open(path, &bolt.Options{Timeout: time.Second, ReadOnly: true})
	if err != nil {
		return err
	}
	err = Run(func() error { return db.View(read) })
	if _, damaged := errors.AsType[*DamageError](err); damaged {
		Abandon(file)
	} else {
		_ = db.Close()
	}
	return err
}

// Abandon lets go of a database that panicked: Close might wait for a lock that the panic left
// behind. Its mapping stays, and would keep the file locked.
func Abandon(file *os.File) {
	_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
	_ = file.Close()
}
