package stills

import (
	"os"
	"syscall"
)

// blocks is what a file takes on disk.
func blocks(info os.FileInfo) int64 { return info.Sys().(*syscall.Stat_t).Blocks * 512 }
