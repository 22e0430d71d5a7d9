package confine

import "golang.org/x/sys/unix"

const processor = unix.AUDIT_ARCH_ARM

// The processor's own calls (linux/arch/arm/include/uapi/asm/unistd.h), which x/sys does not name.
const (
	cacheFlush = 0xf0002
	setTLS     = 0xf0005
)

var (
	alwaysHere = []uintptr{unix.SYS_POLL, unix.SYS_EPOLL_WAIT, unix.SYS_FSTAT64, unix.SYS_SIGRETURN,
		unix.SYS_UGETRLIMIT, unix.SYS_FUTEX_TIME64,
		unix.SYS_CLOCK_GETTIME64, unix.SYS_CLOCK_GETRES_TIME64, unix.SYS_CLOCK_NANOSLEEP_TIME64, unix.SYS_PPOLL_TIME64,
		cacheFlush, setTLS}
	mappingHere = []uintptr{unix.SYS_MMAP2}
	filesHere   = []uintptr{unix.SYS_STAT64, unix.SYS_LSTAT64, unix.SYS_FSTATAT64, unix.SYS_ACCESS, unix.SYS_READLINK,
		unix.SYS__LLSEEK,
		unix.SYS_STATFS64, unix.SYS_FSTATFS64, unix.SYS_FCNTL64, unix.SYS_GETUID32, unix.SYS_GETEUID32,
		unix.SYS_GETGID32, unix.SYS_GETEGID32, unix.SYS_DUP2}
	hostileHere = []uintptr{unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_ACCEPT}
	opening     = map[uintptr]int{unix.SYS_OPEN: 1, unix.SYS_OPENAT: 2}
)
