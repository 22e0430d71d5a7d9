package vfstest

import (
	"io"

	"vmsbridge/storage/vfs"
)

// OpKind names an operation of a file system.
type OpKind string

// The operations that Inject announces. Reading a directory, a size or the free space counts as
// OpRead.
const (
	OpMakeDir OpKind = "mkdir"
	OpCreate  OpKind = "create"
	OpOpen    OpKind = "open"
	OpRead    OpKind = "read"
	OpWrite   OpKind = "write"
	OpSync    OpKind = "sync"
	OpSyncDir OpKind = "syncdir"
	OpRemove  OpKind = "remove"
	OpRename  OpKind = "rename"
	OpLock    OpKind = "lock"
)

// Op is an operation that is about to happen.
type Op struct {
	Kind OpKind
	Name string // path of the file or directory
}

// Inject is fs with before called ahead of each operation, from the goroutine that does it. An
// error of before is returned in place of the operation; a write then stores the first half of its
// bytes, as a disk that fills up does, and a Sync on a Disk forgets what it should have made
// durable, as Linux does: it is still read, but no later Sync brings it to the device (A. Rebello
// and others, "Can Applications Recover from fsync Failures?", USENIX ATC 2020).
func Inject(fs vfs.FS, before func(Op) error) vfs.FS { return &injectFS{fs, before} }

type injectFS struct {
	fs     vfs.FS
	before func(Op) error
}

func (i *injectFS) MakeDir(dir string) error {
	if err := i.before(Op{OpMakeDir, dir}); err != nil {
		return err
	}
	return i.fs.MakeDir(dir)
}

func (i *injectFS) List(dir string) ([]vfs.Entry, error) {
	if err := i.before(Op{OpRead, dir}); err != nil {
		return nil, err
	}
	return i.fs.List(dir)
}

func (i *injectFS) Create(name string, size int64) (vfs.File, error) {
	if err := i.before(Op{OpCreate, name}); err != nil {
		return nil, err
	}
	f, err := i.fs.Create(name, size)
	if err != nil {
		return nil, err
	}
	return &injectFile{f, name, i.before}, nil
}

func (i *injectFS) Open(name string, write bool) (vfs.File, error) {
	if err := i.before(Op{OpOpen, name}); err != nil {
		return nil, err
	}
	f, err := i.fs.Open(name, write)
	if err != nil {
		return nil, err
	}
	return &injectFile{f, name, i.before}, nil
}

func (i *injectFS) Remove(name string) error {
	if err := i.before(Op{OpRemove, name}); err != nil {
		return err
	}
	return i.fs.Remove(name)
}

func (i *injectFS) Rename(from, to string) error {
	if err := i.before(Op{OpRename, from}); err != nil {
		return err
	}
	return i.fs.Rename(from, to)
}

func (i *injectFS) SyncDir(dir string) error {
	if err := i.before(Op{OpSyncDir, dir}); err != nil {
		return err
	}
	return i.fs.SyncDir(dir)
}

func (i *injectFS) Free(dir string) (int64, error) {
	if err := i.before(Op{OpRead, dir}); err != nil {
		return 0, err
	}
	return i.fs.Free(dir)
}

func (i *injectFS) Capacity(dir string) (int64, error) {
	if err := i.before(Op{OpRead, dir}); err != nil {
		return 0, err
	}
	return i.fs.Capacity(dir)
}

func (i *injectFS) Lock(name string) (io.Closer, error) {
	if err := i.before(Op{OpLock, name}); err != nil {
		return nil, err
	}
	return i.fs.Lock(name)
}

type injectFile struct {
	vfs.File
	name   string
	before func(Op) error
}

func (f *injectFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.before(Op{OpRead, f.name}); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *injectFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.before(Op{OpWrite, f.name}); err != nil {
		n, _ := f.File.WriteAt(p[:len(p)/2], off)
		return n, err
	}
	return f.File.WriteAt(p, off)
}

func (f *injectFile) Sync() error {
	if err := f.before(Op{OpSync, f.name}); err != nil {
		if d, ok := f.File.(*diskFile); ok {
			d.forget()
		}
		return err
	}
	return f.File.Sync()
}

func (f *injectFile) Size() (int64, error) {
	if err := f.before(Op{OpRead, f.name}); err != nil {
		return 0, err
	}
	return f.File.Size()
}
