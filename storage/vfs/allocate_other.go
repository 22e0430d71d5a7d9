//go:build !linux

package vfs

import "os"

// allocate gives the file its size, without space behind it: a write into it may find the disk
// full.
func allocate(f *os.File, size int64) error { return f.Truncate(size) }

func fdatasync(f *os.File) error { return f.Sync() }
