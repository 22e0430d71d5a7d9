// Package vfs is the narrow part of a file system that the stores need, so that a test can fail
// any single operation of it, tear a write, fill the disk, or cut the power (package vfstest). OS
// is the real one.
//
//	ring, err := stills.Open(dir, stills.Options{FS: vfs.OS})
package vfs

import (
	"errors"
	"io"
	"syscall"
)

// FS makes and finds files. All methods are safe for concurrent use and may block on the device.
type FS interface {
	// MakeDir makes a directory and its parents, mode 0700, if it does not exist.
	MakeDir(dir string) error
	// List names the regular files of a directory with their sizes, sorted by name. One of which
	// the file system cannot tell the size, because it is damaged there, has 0.
	List(dir string) ([]Entry, error)
	// Create makes a new file, mode 0600, of exactly size bytes that read as zero. Where the file
	// system can, the space is allocated now, so that later writes within it do not run out of
	// space. On an error no file is left.
	Create(name string, size int64) (File, error)
	// Open opens an existing file for reading, and for writing too if write is set.
	Open(name string, write bool) (File, error)
	// Remove deletes a file.
	Remove(name string) error
	// Rename gives a file another name, also in another directory of the same file system; a file
	// of that name is replaced.
	Rename(from, to string) error
	// SyncDir makes creations, deletions and new names in dir durable.
	SyncDir(dir string) error
	// Free is the number of bytes that this process may still allocate on dir's file system.
	Free(dir string) (int64, error)
	// Capacity is the number of bytes of dir's file system, used and free.
	Capacity(dir string) (int64, error)
	// Lock takes the exclusive lock on the named file, made if need be, without waiting. Another
	// holder, also one in this process, gives ErrLocked.
	Lock(name string) (io.Closer, error)
}

// File is an open file. ReadAt and WriteAt follow io.ReaderAt and io.WriterAt.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Sync makes what was written durable (fdatasync).
	Sync() error
	// Size is the file's length in bytes.
	Size() (int64, error)
}

// Entry is a file in a directory.
type Entry struct {
	Name string
	Size int64
}

// ErrLocked is returned by Lock when somebody else holds the lock.
var ErrLocked = errors.New("file is locked by another process")

// IsFull says whether an error means that there is no more room: disk full, quota reached, or the
// largest file size.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
