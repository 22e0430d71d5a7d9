//go:build amd64 || arm64 || arm

package confine

import "golang.org/x/sys/unix"

// The system calls of all processors here; those of single ones are added in files of their own.
// What the Go runtime does late is in always: it collects garbage, starts threads, sends itself
// signals to share the processor out.
var (
	// always has nothing with a path, an address or another process.
	always = append([]uintptr{
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_CLOSE, unix.SYS_FSTAT,
		unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME,
		unix.SYS_CLOCK_GETRES,
		unix.SYS_GETTIMEOFDAY, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_BRK,
		unix.SYS_MEMBARRIER,
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGTIMEDWAIT,
		unix.SYS_SIGALTSTACK,
		unix.SYS_RESTART_SYSCALL, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_GETPID, unix.SYS_GETTID,
		unix.SYS_SCHED_GETAFFINITY,
		unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_SET_TID_ADDRESS, unix.SYS_GETRANDOM,
		unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_PPOLL,
	}, alwaysHere...)

	// mapping takes the protection as its third argument.
	mapping = append([]uintptr{unix.SYS_MPROTECT}, mappingHere...)

	// files is what loading a library takes, and its questions to the machine.
	files = append([]uintptr{
		unix.SYS_READLINKAT, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_STATX, unix.SYS_GETDENTS64,
		unix.SYS_LSEEK,
		unix.SYS_PREAD64, unix.SYS_STATFS, unix.SYS_FSTATFS, unix.SYS_GETCWD, unix.SYS_IOCTL, unix.SYS_UNAME,
		unix.SYS_SYSINFO,
		unix.SYS_GETRUSAGE, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETPPID,
		unix.SYS_GETCPU,
		unix.SYS_EVENTFD2, unix.SYS_EPOLL_CREATE1, unix.SYS_PIPE2, unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_FCNTL,
	}, filesHere...)

	// limiting reads and lowers limits; the first argument is whose.
	limiting = []uintptr{unix.SYS_PRLIMIT64}

	// hostile is what takes a decoder out of its process.
	hostile = append([]uintptr{
		unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
		unix.SYS_PIDFD_OPEN,
		unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_BIND,
		unix.SYS_LISTEN,
		unix.SYS_ACCEPT4, unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
		unix.SYS_USERFAULTFD,
		unix.SYS_IO_URING_SETUP, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_CHROOT, unix.SYS_SETNS, unix.SYS_UNSHARE,
		unix.SYS_KEYCTL,
		unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_KEXEC_LOAD,
		unix.SYS_REBOOT,
	}, hostileHere...)
)
