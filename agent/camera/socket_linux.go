package camera

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socket reads a TCP connection without telling Go's scheduler of each system call: none of them
// waits, as the descriptor does not block, and being told wakes a thread that watches for those
// that do.
type socket struct {
	raw  syscall.RawConn
	into []byte
	n    int
	err  error
	once func(fd uintptr) bool // read, kept so that it is made only once
}

// plainReader reads a connection as a socket, if it is one of the kernel's.
func plainReader(c net.Conn) io.Reader {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return c
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return c
	}
	s := &socket{raw: raw}
	s.once = s.read
	return s
}

// read reports whether there was an answer; false waits until the socket can be read.
func (s *socket) read(fd uintptr) bool {
	for {
		n, code := rawRead(fd, s.into)
		switch code {
		case 0:
			s.n, s.err = n, nil
			if n == 0 {
				s.err = io.EOF
			}
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return false
		default:
			s.n, s.err = 0, os.NewSyscallError("read", code)
		}
		return true
	}
}

// Read is for one goroutine.
func (s *socket) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	s.into = b
	err := s.raw.Read(s.once)
	s.into = nil
	if err != nil {
		return 0, err
	}
	return s.n, s.err
}

func rawRead(fd uintptr, b []byte) (int, syscall.Errno) {
	n, _, code := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	return int(n), code
}
