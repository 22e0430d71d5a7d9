//go:build amd64 || arm64

package witness

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const pageBytes = 4096

func itoa(n int) string { return strconv.Itoa(n) }

// memory copies n bytes of this process from an address that a system call was given.
func memory(at uint64, n int) []byte {
	b := make([]byte, n)
	for done := 0; done < n; {
		local := unix.Iovec{Base: &b[done]}
		local.SetLen(n - done)
		got, err := unix.ProcessVMReadv(os.Getpid(), []unix.Iovec{local},
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
func text(at uint64) string {
	var s []byte
	for len(s) < unix.PathMax {
		part := memory(at, int(pageBytes-at%pageBytes))
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
