package setup

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"vmsbridge/storage/vfs"
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
	return vfs.Replace(path, content, info.Mode().Perm(), uid, gid)
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
