package setup

import (
	"io/fs"
	"os"
	"path/filepath"

	"vmsbridge/storage/vfs"
)

// WriteSecret writes a file that only its owner can read. One that is there is replaced. Where root
// does it for a service that has a user of its own, the service's group may read it: that of the
// folder in which the configuration is.
func WriteSecret(path, secret string) error {
	folder, mode, gid := filepath.Dir(path), fs.FileMode(0o600), -1
	if info, err := os.Stat(filepath.Dir(folder)); err == nil && os.Geteuid() == 0 {
		if _, group := OwnerOf(info); group > 0 && info.Mode().Perm()&0o050 == 0o050 {
			mode, gid = 0o640, group
		}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if gid > 0 {
		if err := os.Chown(folder, -1, gid); err != nil {
			return err
		}
		if err := os.Chmod(folder, 0o750); err != nil {
			return err
		}
	}
	return vfs.Replace(path, []byte(secret+"\n"), mode, -1, gid)
}
