package confine

import "golang.org/x/sys/unix"

const processor = unix.AUDIT_ARCH_AARCH64

var (
	alwaysHere  = []uintptr{}
	mappingHere = []uintptr{unix.SYS_MMAP}
	filesHere   = []uintptr{unix.SYS_NEWFSTATAT, unix.SYS_GETRLIMIT}
	hostileHere = []uintptr{unix.SYS_ACCEPT}
	opening     = map[uintptr]int{unix.SYS_OPENAT: 2}
)
