package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocate gives the file its size with space behind it. A file system without fallocate (vfat,
// some network ones) gets a file of that size without; a write into it may then find the disk full.
func allocate(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return f.Truncate(size)
		}
		return err
	}
}

func fdatasync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
