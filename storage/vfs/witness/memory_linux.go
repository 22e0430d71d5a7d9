//go:build amd64 || arm64

package witness

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

const pageBytes = 4096

// thread is one that is stopped in a system call, of this process or of another.
type thread int

// memory copies n bytes from an address that the call was given.
func (t thread) memory(at uint64, n int) []byte {
	b := make([]byte, n)
	for done := 0; done < n; {
		local := unix.Iovec{Base: &b[done]}
		local.SetLen(n - done)
		got, err := unix.ProcessVMReadv(int(t), []unix.Iovec{local},
			[]unix.RemoteIovec{{Base: uintptr(at) + uintptr(done), Len: n - done}}, 0)
		if err != nil || got == 0 {
			return b[:done]
		}
		done += got
	}
	return b
}

// text copies a string that ends in a zero byte, page by page: what follows the last page may not
// be mapped.
func (t thread) text(at uint64) string {
	var s []byte
	for len(s) < unix.PathMax {
		part := t.memory(at, int(pageBytes-at%pageBytes))
		if i := bytes.IndexByte(part, 0); i >= 0 {
			return string(append(s, part[:i]...))
		}
		if len(part) == 0 {
			break
		}
		s, at = append(s, part...), at+uint64(len(part))
	}
	return string(s)
}

// path is the one that a call names, in the folder of a descriptor if it does not begin with a
// slash.
func (t thread) path(at int32, name string) string {
	switch {
	case filepath.IsAbs(name):
		return filepath.Clean(name)
	case at == unix.AT_FDCWD:
		folder, _ := os.Readlink(t.proc("cwd"))
		return filepath.Join(folder, name)
	}
	return filepath.Join(t.descriptor(int(at)), name)
}

func (t thread) proc(parts ...string) string {
	return filepath.Join(append([]string{"/proc", strconv.Itoa(int(t))}, parts...)...)
}

// descriptor is the path of an open file.
func (t thread) descriptor(fd int) string {
	path, _ := os.Readlink(t.proc("fd", strconv.Itoa(fd)))
	return path
}

func (t thread) stat(fd int) (os.FileInfo, error) { return os.Stat(t.proc("fd", strconv.Itoa(fd))) }

// position is where the next write to an open file goes.
func (t thread) position(fd int) (at int64) {
	b, _ := os.ReadFile(t.proc("fdinfo", strconv.Itoa(fd)))
	_, _ = fmt.Sscanf(string(b), "pos: %d", &at)
	return at
}
