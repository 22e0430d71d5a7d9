package vfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOS(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	require.NoError(t, OS.MakeDir(dir))
	require.NoError(t, OS.MakeDir(dir))
	name := filepath.Join(dir, "f")
	f, err := OS.Create(name, 100<<10)
	require.NoError(t, err)
	_, err = OS.Create(name, 1)
	require.ErrorIs(t, err, os.ErrExist)
	size, err := f.Size()
	require.NoError(t, err)
	require.EqualValues(t, 100<<10, size)
	_, err = f.WriteAt([]byte("hello"), 5000)
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
	require.NoError(t, OS.SyncDir(dir))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	list, err := OS.List(dir)
	require.NoError(t, err)
	require.Equal(t, []Entry{{"f", 100 << 10}}, list)
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	f, err = OS.Open(name, false)
	require.NoError(t, err)
	p := make([]byte, 7)
	_, err = f.ReadAt(p, 4999)
	require.NoError(t, err)
	require.Equal(t, "\x00hello\x00", string(p))
	_, err = f.WriteAt(p, 0)
	require.Error(t, err, "opened for reading")
	require.NoError(t, f.Close())
	require.NoError(t, OS.Remove(name))
	_, err = OS.Open(name, true)
	require.ErrorIs(t, err, os.ErrNotExist)
	free, err := OS.Free(dir)
	require.NoError(t, err)
	require.Positive(t, free)
}

// TestDamagedInode: one file that cannot be looked at hides no other.
func TestDamagedInode(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("hello"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), []byte("hello"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c"), []byte("hello"), 0o600))
	des, err := os.ReadDir(dir)
	require.NoError(t, err)
	des[1] = damagedInode{des[1]}
	require.NoError(t, os.Remove(filepath.Join(dir, "c")))
	require.Equal(t, []Entry{{"a", 5}, {"b", 0}}, entries(des))
}

// damagedInode is a name whose inode the file system refuses, as ext4 does when its checksum
// differs.
type damagedInode struct{ os.DirEntry }

func (d damagedInode) Info() (os.FileInfo, error) {
	return nil, &os.PathError{Op: "lstat", Path: d.Name(), Err: syscall.EUCLEAN}
}

// TestLockFollowsNoLink: whoever owns the folder could have root make or open a file elsewhere.
func TestLockFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	elsewhere := filepath.Join(dir, "elsewhere")
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, "LOCK")))
	_, err := OS.Lock(filepath.Join(dir, "LOCK"))
	require.ErrorContains(t, err, "it is a link, which is not followed: remove it")
	require.NoFileExists(t, elsewhere)
}

func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "LOCK")
	l, err := OS.Lock(name)
	require.NoError(t, err)
	_, err = OS.Lock(name)
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, l.Close())
	l, err = OS.Lock(name)
	require.NoError(t, err)
	require.NoError(t, l.Close())
}

// TestRemedy: what is wrong is named, and nothing else is blamed.
func TestRemedy(t *testing.T) {
	named := []string{"is full", "is read-only", "does not work", "no file descriptors", "let the program's user write"}
	for cause, name := range map[syscall.Errno]string{syscall.ENOSPC: named[0], syscall.EROFS: named[1],
		syscall.EIO: named[2], syscall.EMFILE: named[3], syscall.ENFILE: named[3], syscall.EACCES: named[4]} {
		said := Remedy(fmt.Errorf("x: %w", &os.PathError{Err: cause}), "bridge.data")
		for _, other := range named {
			require.Equal(t, name == other, strings.Contains(said, other), "%v: %s", cause, said)
		}
	}
	require.Contains(t, Remedy(syscall.EBADF, "bridge.data"), "see the log")
}

func TestIsFull(t *testing.T) {
	require.True(t, IsFull(fmt.Errorf("x: %w", &os.PathError{Err: syscall.ENOSPC})))
	require.True(t, IsFull(syscall.EDQUOT))
	require.True(t, IsFull(syscall.EFBIG))
	require.False(t, IsFull(syscall.EIO))
	require.False(t, IsFull(nil))
}
