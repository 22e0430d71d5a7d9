package confine

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// policy is what system calls a process may do. All others fail with EPERM: libraries ask for this
// and that and do without.
type policy struct {
	free   []uintptr // with any arguments
	bound  []call    // with certain ones
	absent []uintptr // fail as on a kernel without them, so that libc takes the older way
	deadly []uintptr // end the process: no decoder does them unless somebody else has taken it over
}

// call is a system call whose arguments must all pass; one that stands here twice needs to pass
// once.
type call struct {
	number uintptr
	args   []argument
}

// argument passes if the lower half of it, masked, is the value. The kernel looks at no more of
// those that are used here.
type argument struct {
	index       int
	mask, value uint32
}

// decoding is for a process that has all that it needs, but for devices that it may open.
func decoding(devices bool) policy {
	p := policy{free: always, absent: []uintptr{unix.SYS_CLONE3}, deadly: hostile}
	if devices {
		p.free = append(slices.Clone(always), files...)
		p.bound = opened(unix.O_CREAT | unix.O_TRUNC)
	}
	for _, number := range mapping {
		p.bound = append(p.bound, call{number, []argument{{2, unix.PROT_EXEC, 0}}})
	}
	p.bound = append(p.bound, own()...)
	return p
}

// opened are the calls that open files without any of these flags.
func opened(without uint32) (calls []call) {
	for number, flags := range opening {
		calls = append(calls, call{number, []argument{{flags, without, 0}}})
	}
	return calls
}

// loading is for one that loads libraries and asks what the machine is like.
func loading(devices bool) policy {
	p := policy{free: append(append(append([]uintptr(nil), always...), mapping...), files...),
		absent: []uintptr{unix.SYS_CLONE3}}
	p.bound = own()
	for _, number := range limiting {
		p.bound = append(p.bound, call{number, []argument{{0, ^uint32(0), 0}}}) // of oneself
	}
	without := uint32(unix.O_CREAT | unix.O_TRUNC)
	if !devices {
		without |= unix.O_ACCMODE
	}
	p.bound = append(p.bound, opened(without)...)
	p.free = append(p.free, unix.SYS_SECCOMP, unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE,
		unix.SYS_LANDLOCK_RESTRICT_SELF)
	return p
}

// own is what a process may do to itself: signals, threads (and no processes), names.
func own() []call {
	const (
		all    = ^uint32(0)
		thread = unix.CLONE_THREAD | unix.CLONE_SIGHAND | unix.CLONE_VM
		others = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
			unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_VFORK | unix.CLONE_PTRACE | unix.CLONE_PIDFD
	)
	self := uint32(unix.Getpid())
	return []call{
		{unix.SYS_CLONE, []argument{{0, thread | others, thread}}},
		{unix.SYS_TGKILL, []argument{{0, all, self}}},
		{unix.SYS_KILL, []argument{{0, all, self}}},
		{unix.SYS_PRCTL, []argument{{0, all, unix.PR_SET_NAME}}},
		{unix.SYS_PRCTL, []argument{{0, all, unix.PR_SET_VMA}}},
		{unix.SYS_FCNTL, []argument{{1, all, unix.F_GETFL}}},
		{unix.SYS_FCNTL, []argument{{1, all, unix.F_GETFD}}},
	}
}

// Offsets in struct seccomp_data: the number, the processor, the lower half of the first argument.
// All processors here are little endian.
const (
	dataNumber    = 0
	dataProcessor = 4
	dataArgs      = 16
)

// program is the policy for the kernel. A call that may be done with any arguments costs nothing:
// the kernel remembers.
func (p policy) program(processor uint32) []unix.SockFilter {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		mask  = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
		ret   = unix.BPF_RET | unix.BPF_K
	)
	f := []unix.SockFilter{
		{Code: load, K: dataProcessor},
		{Code: equal, K: processor, Jt: 1},
		{Code: ret, K: unix.SECCOMP_RET_KILL_PROCESS}, // a way around: calls of the 32-bit processor
		{Code: load, K: dataNumber},
	}
	list := func(numbers []uintptr, result uint32) {
		for _, n := range numbers {
			f = append(f, unix.SockFilter{Code: equal, K: uint32(n), Jf: 1}, unix.SockFilter{Code: ret, K: result})
		}
	}
	list(p.free, unix.SECCOMP_RET_ALLOW)
	for _, c := range p.bound {
		const each = 3 // instructions for an argument
		n := each * len(c.args)
		f = append(f, unix.SockFilter{Code: equal, K: uint32(c.number), Jf: uint8(n + 2)})
		for i, a := range c.args {
			f = append(f, unix.SockFilter{Code: load, K: uint32(dataArgs + 8*a.index)},
				unix.SockFilter{Code: mask, K: a.mask},
				unix.SockFilter{Code: equal, K: a.value, Jf: uint8(each*(len(c.args)-1-i) + 1)})
		}
		f = append(f, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW}, unix.SockFilter{Code: load, K: dataNumber})
	}
	list(p.absent, unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS))
	list(p.deadly, unix.SECCOMP_RET_KILL_PROCESS)
	return append(f, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
}

// filter holds all threads to a policy, from now on.
func filter(p policy) error {
	if len(always) == 0 {
		return errors.New("the system calls of this processor are not listed: please report it")
	}
	f := p.program(processor)
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	odd, _, code := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(f)
	switch {
	case code == unix.ENOSYS || code == unix.EINVAL:
		return errors.New("this kernel has none: CONFIG_SECCOMP_FILTER is needed")
	case code != 0:
		return fmt.Errorf("set the filter: %w", code)
	case odd != 0:
		return fmt.Errorf("set the filter: thread %d has another one", odd)
	}
	return nil
}
