package boltfile

import (
	"errors"
	"os"
	"syscall"
)

// Read calls use with the file at path, or with New's error, and returns what use does. bbolt may
// have the file open: what a transaction of its keeps stays in place as long as that lasts.
func Read(path string, use func(*File, error) error) error {
	f, err := os.OpenFile(path, syscall.O_NONBLOCK, 0) // a pipe would wait for its other end
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := New(f, info.Size())
	return use(file, err)
}

// Unreadable says that the file system itself is damaged where the file is, or has no file there
// that could be read: what was in it cannot be had back from here, and is set aside with its name.
func Unreadable(err error) bool {
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.EUCLEAN, syscall.EBADMSG, syscall.ELOOP, syscall.ENXIO} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
