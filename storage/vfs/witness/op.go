package witness

import (
	"errors"
	"fmt"
)

// Kind names what was done.
type Kind string

// The kinds of operations.
const (
	Create   Kind = "create"   // a new file
	Write    Kind = "write"    // Data at Offset
	Truncate Kind = "truncate" // to Size
	Sync     Kind = "sync"     // fsync or fdatasync of a file
	SyncDir  Kind = "syncdir"  // fsync of a folder
	NoSync   Kind = "nosync"   // a Sync that was made to fail
	Rename   Kind = "rename"   // Path becomes To
	Remove   Kind = "remove"
	Mark     Kind = "mark" // not of the disk: the watched function said Path
)

// Op is one operation that was done.
type Op struct {
	Kind     Kind
	Path, To string
	Offset   int64
	Data     []byte
	Size     int64
}

func (o Op) String() string {
	switch o.Kind {
	case Write:
		return fmt.Sprintf("write %d bytes at %d of %s", len(o.Data), o.Offset, o.Path)
	case Truncate:
		return fmt.Sprintf("truncate %s to %d", o.Path, o.Size)
	case Rename:
		return fmt.Sprintf("rename %s to %s", o.Path, o.To)
	}
	return fmt.Sprintf("%s %s", o.Kind, o.Path)
}

// ErrUnsupported says that this system does not let a program watch itself.
var ErrUnsupported = errors.New("system calls cannot be watched here")

// Fault is asked before operation n (from 0 on; marks do not count) is done. An error number other
// than 0 is returned to the watched code in place of the operation; a write then stores the first
// half of its bytes, as a disk that fills up does. A failed Sync is a NoSync in the log: what it
// should have flushed is as good as forgotten, because the kernel takes the pages for clean
// (https://wiki.postgresql.org/wiki/Fsync_Errors). Other failed operations are not in the log.
type Fault func(n int, op Op) (errno int)
