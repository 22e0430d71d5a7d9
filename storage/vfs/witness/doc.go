// Package witness sees every change that one goroutine makes to the files below a folder, system
// call by system call, and can fail any of them; and it makes of what it saw the disks that a crash
// could have left behind. It is for tests of code whose files are written by somebody else's
// library, such as bbolt, where there is no seam to put a fault into.
//
// It works by a seccomp filter (seccomp_unotify(2)) on a thread of the goroutine's own: the kernel
// stops that thread at each open, write, sync, truncate, rename and unlink until a second goroutine
// has looked. What other goroutines do is not seen. Linux only; where the kernel or a sandbox
// refuses the filter, Watch says ErrUnsupported.
//
//	log, err := witness.Watch(dir, nil, func(mark func(string)) {
//		j, _ := journal.Open(filepath.Join(dir, "journal.db"), journal.Options{})
//		_ = j.Put(ev, true)
//		mark("promised " + ev.ID)
//	})
//	for k := range log {
//		// what the disk may hold if power went before operation k
//		err := witness.Crash(log[:k], dir, other, rng)
//	}
package witness
