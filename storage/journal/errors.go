package journal

import (
	"errors"
	"fmt"
	"strings"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"vmsbridge/storage/journal/form"
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
	ErrLocked = errors.New("another process has the journal open: is vmsbridge (or vmscloud) already running? stop it first")
	// ErrNewer is wrapped by Open's error when a newer version of the program wrote the file.
	ErrNewer = errors.New("the journal was written by a newer version of this program: install that version, or move the file away")
)

// errOldForm says that the file is sound as far as it was looked at, but of an older form.
var errOldForm = errors.New("the journal's file has an older form")

// damagedError says that the database's structure broke under an operation.
type damagedError struct{ cause any }

func (e *damagedError) Error() string { return fmt.Sprintf("journal file is damaged: %v", e.cause) }

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

// txBucket is a bucket that Open made sure of; a missing one is damage.
func txBucket(tx *bolt.Tx, name []byte) *bolt.Bucket {
	b := tx.Bucket(name)
	if b == nil {
		panic(fmt.Sprintf("bucket %q is missing", name))
	}
	return b
}
