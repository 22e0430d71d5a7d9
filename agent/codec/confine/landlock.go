package confine

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// scope is how much Landlock takes.
type scope int

const (
	allButReading scope = iota // a library may lie anywhere, and reads what it likes as it is loaded
	everything
)

// filesOf is all rights of files that each version of Landlock knows (linux/landlock.h); the last
// row is for newer ones, too.
var filesOf = []uint64{
	1: unix.LANDLOCK_ACCESS_FS_REFER - 1,
	2: unix.LANDLOCK_ACCESS_FS_TRUNCATE - 1,
	3: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV - 1,
	4: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV - 1,
	5: unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX - 1,
}

const reading = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR

// ruleset is what a version of Landlock can take: a set of rules without a rule allows nothing of
// it.
func ruleset(version int, s scope) (r unix.LandlockRulesetAttr, size uintptr) {
	r.Handled_access_fs = filesOf[min(version, len(filesOf)-1)]
	if s == allButReading {
		r.Handled_access_fs &^= reading
	}
	size = unsafe.Sizeof(r.Handled_access_fs)
	if version >= 4 {
		r.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size = unsafe.Offsetof(r.Scoped)
	}
	if version >= 6 {
		r.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size = unsafe.Offsetof(r.Quiet_access_fs)
	}
	return r, size
}

// restrict confines this thread, and those that it will start; all threads from version 8 on. With
// devices what is below /dev stays free, and /sys may be read. It answers the version.
func restrict(s scope, devices bool) (version int, err error) {
	v, _, code := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case code == unix.ENOSYS:
		return 0, errors.New("this kernel has none: Linux 5.13 with CONFIG_SECURITY_LANDLOCK has")
	case code == unix.EOPNOTSUPP:
		return 0, errors.New("it is switched off: add landlock to the kernel's parameter lsm=")
	case code != 0:
		return 0, fmt.Errorf("ask for its version: %w", code)
	}
	version = int(v)
	attr, size := ruleset(version, s)
	fd, _, code := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if code != 0 {
		return version, fmt.Errorf("make a set of rules: %w", code)
	}
	defer unix.Close(int(fd))
	if devices {
		const using = reading&^unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
			unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
		err = errors.Join(allow(fd, "/dev", using&attr.Handled_access_fs),
			allow(fd, "/sys", reading&^unix.LANDLOCK_ACCESS_FS_EXECUTE&attr.Handled_access_fs))
		if err != nil {
			return version, err
		}
	}
	var flags uintptr
	if version >= 8 {
		flags = unix.LANDLOCK_RESTRICT_SELF_TSYNC
	}
	if _, _, code := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, flags, 0); code != 0 {
		return version, fmt.Errorf("confine this thread: %w", code)
	}
	return version, nil
}

// allow adds a rule: these rights to all that is below a folder; nothing where there is no such
// folder, or no such right is taken.
func allow(ruleset uintptr, folder string, rights uint64) error {
	if rights == 0 {
		return nil
	}
	fd, err := unix.Open(folder, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	if _, _, code := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, ruleset, unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0); code != 0 {
		return fmt.Errorf("leave %s free: %w", folder, code)
	}
	return nil
}
