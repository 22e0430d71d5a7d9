package file

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	bolterrors "go.etcd.io/bbolt/errors"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/storage/vfs"
)

var (
	// ErrFull is wrapped by the errors of all changes when the disk (or the quota) is full. The
	// file is unchanged and goes on as soon as there is room.
	ErrFull = errors.New("no space left for the journal: free disk space or lower stills.max_size")
	// ErrClosed is returned by every call after Close.
	ErrClosed = errors.New("the journal is closed")
	// ErrLocked is wrapped by the errors of Open and Hold when another process holds the file.
	ErrLocked = guard.ErrLocked
	// ErrNewer is wrapped by the errors of Open and Check when a newer version of the program wrote
	// the file.
	ErrNewer = schema.ErrNewer
	// ErrOlder is wrapped by the errors of Open and Check when a build of before the first release
	// wrote the file.
	ErrOlder = schema.ErrOlder
)

// Refuse makes an error of a change one that is found before it wrote anything: the rest of its
// batch goes on, and its own caller gets err.
func Refuse(err error) error { return refusal{err} }

// refusal is what Refuse makes.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// explain turns a store error into one that the caller can act on.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case vfs.IsFull(err):
		return fmt.Errorf("%w (%w)", ErrFull, err)
	case errors.Is(err, bolterrors.ErrMaxSizeReached),
		// bbolt loses the cause when it fails to grow the file.
		strings.Contains(err.Error(), "no space left"), strings.Contains(err.Error(), "quota exceeded"),
		strings.Contains(err.Error(), "file too large"):
		return fmt.Errorf("%w (%w: %w)", ErrFull, syscall.ENOSPC, err)
	case errors.Is(err, bolterrors.ErrDatabaseNotOpen):
		return ErrClosed
	}
	return err
}
