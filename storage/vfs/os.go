package vfs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// OS is the machine's file system.
var OS FS = osFS{}

type osFS struct{}

// ErrNoFile is of a name at which there is something else.
var ErrNoFile = errors.New("this is a folder, a pipe or a device, and no file: move it away")

func (osFS) MakeDir(dir string) error { return os.MkdirAll(dir, 0o700) }

func (osFS) List(dir string) ([]Entry, error) {
	des, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	return entries(des), nil
}

func entries(des []os.DirEntry) (list []Entry) {
	for _, de := range des {
		if !de.Type().IsRegular() {
			continue
		}
		info, err := de.Info()
		switch {
		case err == nil:
			list = append(list, Entry{Name: de.Name(), Size: info.Size()})
		case !errors.Is(err, os.ErrNotExist): // else it was deleted since ReadDir
			list = append(list, Entry{Name: de.Name()})
		}
	}
	return list
}

func (osFS) Create(name string, size int64) (File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if size == 0 {
		return osFile{f}, nil
	}
	if err := allocate(f, size); err != nil {
		f.Close()
		os.Remove(name)
		return nil, fmt.Errorf("allocate %d bytes for %s: %w", size, name, err)
	}
	return osFile{f}, nil
}

func (osFS) Open(name string, write bool) (File, error) {
	flag := os.O_RDONLY
	if write {
		flag = os.O_RDWR
	}
	f, err := os.OpenFile(name, flag|unix.O_NONBLOCK, 0) // a pipe would wait for somebody at its other end
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, cmp.Or(err, error(&os.PathError{Op: "open", Path: name, Err: ErrNoFile}))
	}
	return osFile{f}, nil
}

func (osFS) Remove(name string) error { return os.Remove(name) }

func (osFS) Rename(from, to string) error { return os.Rename(from, to) }

func (osFS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	// Some file systems (vfat, some network ones) cannot sync a directory; they have nothing better
	// to offer.
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}

func (osFS) Free(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

func (osFS) Capacity(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(st.Blocks) * int64(st.Bsize), nil
}

// NoFiles says whether the file system of a folder has no room for another file, however many bytes
// are free: it has no inode left.
func NoFiles(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && st.Files > 0 && st.Ffree == 0
}

// Lock follows no link: root checks a folder whose owner is somebody else, who could have put a
// link there.
func (osFS) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("lock %s: it is a link, which is not followed: remove it (%w)", name, err)
	}
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrLocked
		}
		return nil, &os.PathError{Op: "flock", Path: name, Err: err}
	}
	return f, nil
}

type osFile struct{ *os.File }

func (f osFile) Sync() error {
	for {
		err := fdatasync(f.File)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
