//go:build linux

package vfstest

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TinyDisk is a folder with a file system of its own of that many bytes, gone with the test, which
// fails if it leaves a file open there. The test is skipped where none can be mounted.
func TinyDisk(t testing.TB, size int) string {
	t.Helper()
	return mount(t, fmt.Sprintf("size=%d", size), 0)
}

// TinyDiskHeld is TinyDisk for a test that leaves something open, such as the mapping of a damaged
// file, or a program that is still to end.
func TinyDiskHeld(t testing.TB, size int) string {
	t.Helper()
	return mount(t, fmt.Sprintf("size=%d", size), syscall.MNT_DETACH)
}

// FewFiles is TinyDiskHeld with room for so many files and folders, itself among them.
func FewFiles(t testing.TB, size, files int) string {
	t.Helper()
	return mount(t, fmt.Sprintf("size=%d,nr_inodes=%d", size, files), syscall.MNT_DETACH)
}

func mount(t testing.TB, options string, unmount int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("a small file system cannot be mounted: %v; run this as root with CAP_SYS_ADMIN", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, unmount)) })
	return dir
}
