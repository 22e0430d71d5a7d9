package journal

import (
	"errors"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/schema"
)

var (
	// ErrNotFound is returned for an id that the journal (or that part of it) does not hold.
	ErrNotFound = errors.New("no such event in the journal")
	// ErrFull is wrapped by the errors of Put and all other changes when the disk (or the quota) is
	// full. The journal is unchanged and goes on as soon as there is room; the caller may free some
	// (the stills ring can be shrunk) and retry.
	ErrFull = file.ErrFull
	// ErrGone is wrapped by the errors of all changes when the file was moved away, deleted or
	// replaced while it was open.
	ErrGone = guard.ErrGone
	// ErrClosed is returned by every call after Close.
	ErrClosed = file.ErrClosed
	// ErrInvalid is wrapped by Put's error for an event that can never be stored as it is.
	ErrInvalid = schema.ErrInvalid
	// ErrLocked is wrapped by Open's error when another process holds the file.
	ErrLocked = file.ErrLocked
	// ErrNewer is wrapped by Open's error when a newer version of the program wrote the file.
	ErrNewer = file.ErrNewer
	// ErrOlder is wrapped by Open's error when a build of before the first release wrote the file.
	ErrOlder = file.ErrOlder
)
