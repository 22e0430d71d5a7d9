package main

import (
	"io/fs"
	"syscall"
)

// ownerOf is who a file belongs to, -1 if the system does not say.
func ownerOf(info fs.FileInfo) (uid, gid int) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid), int(s.Gid)
	}
	return -1, -1
}
