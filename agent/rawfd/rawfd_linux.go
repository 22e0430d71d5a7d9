package rawfd

import (
	"io"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Reader reads r, if r is a *os.File or a connection of the kernel's that does not block; else it
// is r. It is for one goroutine. Errors are those of r, io.EOF at the end.
func Reader(r io.Reader) io.Reader {
	if raw := rawConn(r); raw != nil {
		return newDescriptor(raw)
	}
	return r
}

// Writer writes w, as Reader reads. Write returns after all is written, or with how much was and
// why no more, which may be os.ErrDeadlineExceeded.
func Writer(w io.Writer) io.Writer {
	if raw := rawConn(w); raw != nil {
		return newDescriptor(raw)
	}
	return w
}

func rawConn(v any) syscall.RawConn {
	c, ok := v.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	blocks := true
	if raw.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		blocks = err != nil || flags&unix.O_NONBLOCK == 0
	}) != nil || blocks {
		return nil
	}
	return raw
}

// descriptor is one direction of a descriptor, for one goroutine.
type descriptor struct {
	raw         syscall.RawConn
	bytes       []byte // of the call under way
	n           int
	err         error
	read, write func(fd uintptr) bool // kept so that they are made only once
}

func newDescriptor(raw syscall.RawConn) *descriptor {
	d := &descriptor{raw: raw}
	d.read, d.write = d.readOnce, d.writeOn
	return d
}

// Read implements io.Reader.
func (d *descriptor) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	d.bytes, d.n, d.err = b, 0, nil
	err := d.raw.Read(d.read)
	d.bytes = nil
	if err != nil {
		return 0, err
	}
	return d.n, d.err
}

// Write implements io.Writer.
func (d *descriptor) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	d.bytes, d.n, d.err = b, 0, nil
	err := d.raw.Write(d.write)
	d.bytes = nil
	if err != nil {
		return d.n, err
	}
	return d.n, d.err
}

// readOnce reports whether there was an answer; false waits until the descriptor can be read.
func (d *descriptor) readOnce(fd uintptr) bool {
	n, code := call(unix.SYS_READ, fd, d.bytes)
	switch {
	case code == unix.EAGAIN:
		return false
	case code != 0:
		d.err = os.NewSyscallError("read", code)
	case n == 0:
		d.err = io.EOF
	default:
		d.n = n
	}
	return true
}

// writeOn reports whether all was written, or failed; false waits until there is room.
func (d *descriptor) writeOn(fd uintptr) bool {
	for d.n < len(d.bytes) {
		n, code := call(unix.SYS_WRITE, fd, d.bytes[d.n:])
		switch {
		case code == unix.EAGAIN:
			return false
		case code != 0:
			d.err = os.NewSyscallError("write", code)
			return true
		case n == 0:
			d.err = io.ErrUnexpectedEOF
			return true
		}
		d.n += n
	}
	return true
}

// call does one system call that does not wait, again if a signal came.
func call(number, fd uintptr, b []byte) (int, syscall.Errno) {
	for {
		n, _, code := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		if code != unix.EINTR {
			return int(n), code
		}
	}
}
