package guard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrGone is wrapped by the errors of changes to a file that its name does not lead to any more.
var ErrGone = errors.New("the file was moved away, deleted or replaced while it was open: put its folder back, or " +
	"restart the program to begin anew")

// InPlace is nil if path leads to the open file, and else wraps ErrGone. It costs two system calls.
func InPlace(file *os.File, path string) error {
	have, err := file.Stat()
	if err != nil {
		return err
	}
	at, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR), err == nil && !os.SameFile(have, at):
		return fmt.Errorf("%s: %w", path, ErrGone)
	}
	return err
}

// GiveToOwner gives a file that root has made to the owner of its folder, whose program would not
// start on it otherwise. The file is open, so no link is followed.
func GiveToOwner(file *os.File) error {
	info, err := os.Stat(filepath.Dir(file.Name()))
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if os.Geteuid() != 0 || !ok || owner.Uid == 0 {
		return nil
	}
	own, err := file.Stat()
	if err != nil {
		return err
	}
	if s, ok := own.Sys().(*syscall.Stat_t); !ok || s.Uid != 0 || s.Nlink > 1 || !own.Mode().IsRegular() {
		return nil
	}
	return file.Chown(int(owner.Uid), int(owner.Gid))
}
