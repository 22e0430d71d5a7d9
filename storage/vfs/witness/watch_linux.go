//go:build amd64 || arm64

package witness

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notification and answer are struct seccomp_notif and struct seccomp_notif_resp.
type notification struct {
	id    uint64
	pid   uint32 // the thread's
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

type answer struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

// Watch runs f on a thread of its own and returns what f's goroutine did to the files below dir, in
// order, with what f gave to mark between. fault may be nil. It returns when f has returned; a
// panic of f is a panic of the program.
func Watch(dir string, fault Fault, f func(mark func(string))) ([]Op, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	w := &watch{dir: dir, fault: fault}
	installed, watching := make(chan error), make(chan struct{})
	done := make(chan struct{})
	go func() {
		// Never unlocked: the thread ends with the goroutine, and its filter with it.
		runtime.LockOSThread()
		defer close(done)
		var err error
		w.listener, err = install()
		installed <- err
		if err != nil {
			return
		}
		<-watching
		f(w.mark)
	}()
	if err := <-installed; err != nil {
		<-done
		return nil, err
	}
	ended := make(chan struct{})
	go func() { defer close(ended); w.run(done) }()
	close(watching)
	<-done
	<-ended
	unix.Close(w.listener)
	return w.log, nil
}

type watch struct {
	dir      string
	fault    Fault
	listener int
	n        int

	mu  sync.Mutex // guards what follows: mark comes from the other goroutine
	log []Op
	at  []time.Time
}

func (w *watch) mark(text string) { w.add(Op{Kind: Mark, Path: text}) }

func (w *watch) add(op Op) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log, w.at = append(w.log, op), append(w.at, time.Now())
}

// run answers the stopped thread until the function has returned.
func (w *watch) run(done <-chan struct{}) {
	for {
		fds := []unix.PollFd{{Fd: int32(w.listener), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 20)
		if n == 1 && fds[0].Revents&unix.POLLIN != 0 {
			w.serve()
			continue
		}
		if err != nil && !errors.Is(err, unix.EINTR) || n == 1 {
			<-done
			return
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

func (w *watch) serve() {
	var note notification
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(w.listener), unix.SECCOMP_IOCTL_NOTIF_RECV,
		uintptr(unsafe.Pointer(&note))); errno != 0 {
		return // the call was broken off by a signal, and comes again
	}
	reply := answer{id: note.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	op, ok := w.operation(note)
	if ok {
		failed := 0
		if w.fault != nil {
			failed = w.fault(w.n, op)
		}
		w.n++
		if failed != 0 {
			reply.flags, reply.errno = 0, -int32(failed)
			if op.Kind == Write {
				op.Data = op.Data[:len(op.Data)/2]
				_, _ = unix.Pwrite(int(note.args[0]), op.Data, op.Offset)
			}
			if op.Kind == Sync {
				op.Kind = NoSync
			}
			ok = op.Kind == Write || op.Kind == NoSync
		}
	}
	if ok {
		w.add(op)
	}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(w.listener), unix.SECCOMP_IOCTL_NOTIF_SEND,
		uintptr(unsafe.Pointer(&reply)))
}

// operation says what a call is about to do, if it concerns the folder. The thread is stopped
// meanwhile.
func (w *watch) operation(n notification) (op Op, ok bool) {
	a, who := n.args, thread(n.pid)
	switch uint32(n.nr) {
	case unix.SYS_OPENAT:
		op.Path = who.path(int32(a[0]), who.text(a[1]))
		_, err := os.Lstat(op.Path)
		switch {
		case !w.ours(op.Path):
			return op, false
		case err != nil && a[2]&unix.O_CREAT != 0:
			op.Kind = Create
		case err == nil && a[2]&unix.O_TRUNC != 0:
			op.Kind = Truncate
		default:
			return op, false
		}
		return op, true
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		op = Op{Kind: Rename, Path: who.path(int32(a[0]), who.text(a[1])), To: who.path(int32(a[2]), who.text(a[3]))}
		return op, regular(op.Path) && w.ours(op.Path)
	case unix.SYS_UNLINKAT:
		if a[2]&unix.AT_REMOVEDIR != 0 {
			return op, false // os.Remove tries it too, of a file that could not be removed
		}
		op = Op{Kind: Remove, Path: who.path(int32(a[0]), who.text(a[1]))}
		return op, regular(op.Path) && w.ours(op.Path)
	}
	return w.onFile(n)
}

// regular says whether there is a file of that name, and no socket or folder.
func regular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// onFile is operation for the calls on a descriptor.
func (w *watch) onFile(n notification) (op Op, ok bool) {
	a, fd, who := n.args, int(n.args[0]), thread(n.pid)
	op.Path = who.descriptor(fd)
	if !w.ours(op.Path) {
		return op, false
	}
	switch uint32(n.nr) {
	case unix.SYS_WRITE:
		op.Kind, op.Data = Write, who.memory(a[1], int(a[2]))
		op.Offset = who.position(fd)
	case unix.SYS_PWRITE64:
		op.Kind, op.Data, op.Offset = Write, who.memory(a[1], int(a[2])), int64(a[3])
	case unix.SYS_FTRUNCATE:
		op.Kind, op.Size = Truncate, int64(a[1])
	case unix.SYS_FALLOCATE:
		info, err := who.stat(fd)
		if err != nil || a[1] != 0 || int64(a[2]+a[3]) <= info.Size() {
			return op, false
		}
		op.Kind, op.Size = Truncate, int64(a[2]+a[3])
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		op.Kind = Sync
		if info, err := who.stat(fd); err == nil && info.IsDir() {
			op.Kind = SyncDir
		}
	}
	return op, true
}

// ours also refuses files that have no name any more: nothing that happens to them outlives a
// crash.
func (w *watch) ours(path string) bool {
	return (path == w.dir || strings.HasPrefix(path, w.dir+"/")) && !strings.HasSuffix(path, " (deleted)")
}
