package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace gives a file, which need not be there, another content. It writes beside it and renames:
// nobody sees half of it, a full disk leaves the old content, and a power cut the old or the new
// one. uid and gid are who the file is to belong to, -1 for whoever runs this. The folder must be
// there.
func Replace(path string, content []byte, mode fs.FileMode, uid, gid int) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			if gone := os.Remove(f.Name()); !errors.Is(gone, fs.ErrNotExist) {
				err = errors.Join(err, gone)
			}
		}
	}()
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil && (uid >= 0 || gid >= 0) {
		err = f.Chown(uid, gid)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return OS.SyncDir(filepath.Dir(path))
}
