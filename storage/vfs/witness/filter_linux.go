//go:build amd64 || arm64

package witness

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Of linux/seccomp.h and linux/bpf_common.h, where x/sys lacks them.
const (
	setModeFilter = 1
	retUserNotif  = 0x7fc00000
	retAllow      = 0x7fff0000
	loadWord      = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	jumpEqual     = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	give          = unix.BPF_RET | unix.BPF_K
	offsetNumber  = 0 // struct seccomp_data
	offsetArch    = 4
)

// watched are the calls that change files, as Go's library makes them on both architectures.
var watched = []uint32{
	unix.SYS_OPENAT, unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_FTRUNCATE,
	unix.SYS_FALLOCATE, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_UNLINKAT,
}

// program stops at the watched calls and lets all others through.
func program() []unix.SockFilter {
	arch := uint32(unix.AUDIT_ARCH_X86_64)
	if runtime.GOARCH == "arm64" {
		arch = unix.AUDIT_ARCH_AARCH64
	}
	n := uint8(len(watched))
	p := []unix.SockFilter{
		{Code: loadWord, K: offsetArch},
		{Code: jumpEqual, K: arch, Jf: n + 1},
		{Code: loadWord, K: offsetNumber},
	}
	for i, nr := range watched {
		p = append(p, unix.SockFilter{Code: jumpEqual, K: nr, Jt: n - uint8(i)})
	}
	return append(p, unix.SockFilter{Code: give, K: retAllow}, unix.SockFilter{Code: give, K: retUserNotif})
}

// install puts the filter on the calling thread, which must be the goroutine's own, and returns the
// descriptor from which its calls are read. There is no way back for the thread.
func install() (listener int, err error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, fmt.Errorf("%w: no_new_privs: %w", ErrUnsupported, err)
	}
	p := program()
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, setModeFilter,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
		uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(p)
	if errno != 0 {
		return -1, fmt.Errorf("%w: seccomp: %w", ErrUnsupported, errno)
	}
	return int(fd), nil
}
