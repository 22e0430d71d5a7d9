package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ReplaceFile gives a file another content, with the mode and owner that it has. Where only its
// group may write its folder, it becomes the caller's, and stays its group's.
func ReplaceFile(path string, content []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	uid, gid := OwnerOf(info)
	if euid := os.Geteuid(); euid != 0 && uid != euid {
		uid = -1 // only root gives files away
	}
	return Replace(path, content, info.Mode().Perm(), uid, gid)
}

// Replace writes beside the file and renames: nobody sees half of it, a full disk leaves the old
// content, and a power cut the old or the new one. uid and gid are who the file is to belong to, -1
// for whoever runs this.
func Replace(path string, content []byte, mode fs.FileMode, uid, gid int) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
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
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// OwnerOf is who a file belongs to, -1 if the system does not say.
func OwnerOf(info fs.FileInfo) (uid, gid int) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid), int(s.Gid)
	}
	return -1, -1
}

// errReadOnly is a file system that nobody may write to, as a unit may have it.
var errReadOnly error = syscall.EROFS
