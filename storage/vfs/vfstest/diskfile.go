package vfstest

import (
	"errors"
	"io"
	"slices"
)

// diskFile is an open file of a Disk.
type diskFile struct {
	disk     *Disk
	file     *inode
	writable bool
}

func (f *diskFile) ReadAt(p []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if off < 0 || off >= int64(len(f.file.live)) {
		return 0, io.EOF
	}
	n := copy(p, f.file.live[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *diskFile) WriteAt(p []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	switch {
	case !f.writable:
		return 0, errors.New("file is opened for reading")
	case off < 0 || off+int64(len(p)) > int64(len(f.file.live)):
		return 0, errors.New("write beyond the size that the file was made with")
	}
	copy(f.file.live[off:], p)
	f.file.writes = append(f.file.writes, write{off, slices.Clone(p)})
	return len(p), nil
}

func (f *diskFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.file.kept == nil {
		f.file.kept = make([]byte, len(f.file.live))
	}
	for _, w := range f.file.writes {
		copy(f.file.kept[w.at:], w.data)
	}
	f.file.writes = nil
	return nil
}

// forget is a Sync that went wrong: what it should have written is read as long as the machine
// runs, and is on no device.
func (f *diskFile) forget() {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.file.writes = nil
}

func (f *diskFile) Size() (int64, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return int64(len(f.file.live)), nil
}

func (f *diskFile) Close() error { return nil }
