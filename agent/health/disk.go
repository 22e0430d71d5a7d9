package health

import (
	"syscall"

	"vmsbridge/storage/vfs"
)

// readOnly is ST_RDONLY of statfs(2).
const readOnly = 1

// DiskOf is how full the file system of a folder is, zero where that cannot be asked. least is what
// is to be free.
func DiskOf(dir string, least int64) Space {
	s := Space{Path: dir, Least: least, NoFiles: vfs.NoFiles(dir)}
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) == nil {
		s.ReadOnly = fs.Flags&readOnly != 0
		s.Free, s.Total = int64(fs.Bavail)*int64(fs.Bsize), int64(fs.Blocks)*int64(fs.Bsize)
	}
	return s
}
