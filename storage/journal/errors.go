package journal

import (
	"errors"
	"fmt"
	"strings"

	bolterrors "go.etcd.io/bbolt/errors"

	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/guard"
	"vmsbridge/storage/vfs"
)

var (
	// ErrNotFound is returned for an id that the journal (or that part of it) does not hold.
	ErrNotFound = errors.New("no such event in the journal")
	// ErrFull is wrapped by the errors of Put and all other changes when the disk (or the quota) is full. The journal is
	// unchanged and goes on as soon as there is room; the caller may free some (the stills ring can be shrunk) and retry.
	ErrFull = errors.New("no space left for the journal: free disk space or lower stills.max_size")
	// ErrClosed is returned by every call after Close.
	ErrClosed = errors.New("the journal is closed")
	// ErrInvalid is wrapped by Put's error for an event that can never be stored as it is.
	ErrInvalid = form.ErrInvalid
	// ErrLocked is wrapped by Open's error when another process holds the file.
	ErrLocked = guard.ErrLocked
	// ErrNewer is wrapped by Open's error when a newer version of the program wrote the file.
	ErrNewer = form.ErrNewer
)

// refusal is an operation's own failure, found before it wrote anything: the rest of its batch goes on.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// explain turns a store error into one that the caller can act on.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case vfs.IsFull(err), errors.Is(err, bolterrors.ErrMaxSizeReached),
		// bbolt loses the cause when it fails to grow the file.
		strings.Contains(err.Error(), "no space left"), strings.Contains(err.Error(), "quota exceeded"),
		strings.Contains(err.Error(), "file too large"):
		return fmt.Errorf("%w (%w)", ErrFull, err)
	case errors.Is(err, bolterrors.ErrDatabaseNotOpen):
		return ErrClosed
	}
	return err
}
