package vfs

import (
	"errors"
	"syscall"
)

// Remedy says what a person can do about an error of a file system that holds what: full,
// read-only, dying, or out of descriptors are different things.
func Remedy(err error, what string) string {
	switch {
	case IsFull(err):
		return "the disk that holds " + what + " is full: free space there"
	case errors.Is(err, syscall.EROFS):
		return "the disk that holds " + what +
			" is read-only, often because the system found it damaged: look at dmesg, repair or replace it, " +
			"and mount it for writing; where mount refuses that (ext4 after an error), stop the program first, " +
			"unmount, run fsck, mount and start it again"
	case errors.Is(err, syscall.EIO), errors.Is(err, syscall.EUCLEAN), errors.Is(err, syscall.EBADMSG),
		errors.Is(err, syscall.ENODEV),
		errors.Is(err, syscall.ENXIO):
		return "the disk that holds " + what + " does not work: look at dmesg, save what is on it, and replace it"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "the program has no file descriptors left, which is no fault of the disk: look what holds so many " +
			"connections to it, or raise the limit (LimitNOFILE= of its unit, ulimit -n), and restart it"
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return "let the program's user write in " + what
	}
	return "see the log, and the disk that holds " + what
}
