package confine

import "golang.org/x/sys/unix"

const processor = unix.AUDIT_ARCH_X86_64

var (
	alwaysHere  = []uintptr{unix.SYS_TIME, unix.SYS_POLL, unix.SYS_EPOLL_WAIT, unix.SYS_ARCH_PRCTL}
	mappingHere = []uintptr{unix.SYS_MMAP}
	filesHere   = []uintptr{unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK, unix.SYS_NEWFSTATAT,
		unix.SYS_GETDENTS, unix.SYS_GETRLIMIT, unix.SYS_DUP2, unix.SYS_EVENTFD}
	hostileHere = []uintptr{unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_ACCEPT}
	opening     = map[uintptr]int{unix.SYS_OPEN: 1, unix.SYS_OPENAT: 2}
)
