package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"vmsbridge/agent/api"
	"vmsbridge/agent/archive"
	"vmsbridge/agent/setup"
)

// giveBack lets the owner of a data folder have what root made among its stores: a lock, a
// recovered journal, a segment. The bridge, which runs as a user of its own, could not open them,
// and would not start. It does nothing for others than root. The folder is not trusted: its owner
// may have put links there, so none is followed, and a file with a second name is left alone.
func giveBack(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	uid, gid := setup.OwnerOf(info)
	if os.Geteuid() != 0 || uid <= 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		top, _, _ := strings.Cut(path, "/")
		switch {
		case err != nil:
			return err
		case path == ".":
			return nil
		case top != archive.StillsDir && !strings.HasPrefix(top, archive.JournalFile) &&
			!strings.HasPrefix(top, api.IdentityFile):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := root.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		s, ok := info.Sys().(*syscall.Stat_t)
		if !ok || s.Uid != 0 || !d.IsDir() && (!info.Mode().IsRegular() || s.Nlink > 1) {
			return nil
		}
		return root.Lchown(path, uid, gid)
	})
	if err != nil {
		return fmt.Errorf("give the files in %s to their owner: %w; run this as the bridge's own user", dir, err)
	}
	return nil
}
