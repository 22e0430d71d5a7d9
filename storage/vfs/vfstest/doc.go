// Package vfstest is for tests only: file systems that fail. Disk is one in memory that forgets in
// a crash what was not flushed; Inject puts faults before another; TinyDisk is a real one that is
// soon full.
//
//	fs := vfstest.Inject(vfs.OS, func(op vfstest.Op) error {
//		if op.Kind == vfstest.OpSync { return syscall.EIO }
//		return nil
//	})
//	ring, err := stills.Open(dir, stills.Options{FS: fs})
package vfstest
