package confine

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Landlock by itself, without the filter of system calls: what is confined first may still be read,
// nothing may be after that.
func TestLandlock(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("secret"), 0o600))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	opens := func(path string, flags int) error {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	}
	connects := func() error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Connect(fd, &unix.SockaddrInet4{Port: listener.Addr().(*net.TCPAddr).Port,
			Addr: [4]byte{127, 0, 0, 1}})
	}
	type seen struct {
		version                                  int
		err, read, write, create, dial, readLate error
	}
	done := make(chan seen)
	go func() {
		runtime.LockOSThread() // for ever: the thread ends with its confinement
		var s seen
		if s.err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); s.err == nil {
			s.version, s.err = restrict(allButReading, false)
		}
		s.read, s.write = opens(file, unix.O_RDONLY), opens(file, unix.O_WRONLY)
		s.create, s.dial = opens(filepath.Join(dir, "new"), unix.O_WRONLY|unix.O_CREAT), connects()
		if s.err == nil {
			_, s.err = restrict(everything, false)
		}
		s.readLate = opens(file, unix.O_RDONLY)
		done <- s
	}()
	s := <-done
	if s.version == 0 {
		t.Skipf("no Landlock here: %v", s.err)
	}
	require.NoError(t, s.err)
	require.NoError(t, s.read)
	require.ErrorIs(t, s.write, unix.EACCES)
	require.ErrorIs(t, s.create, unix.EACCES)
	if s.version >= 4 {
		require.ErrorIs(t, s.dial, unix.EACCES)
	}
	require.ErrorIs(t, s.readLate, unix.EACCES)
	require.NoError(t, opens(file, unix.O_RDONLY), "other threads are not confined")
}

// Each version is asked only for what it knows: with more, the kernel refuses the whole.
func TestRulesets(t *testing.T) {
	for version, want := range map[int]struct {
		files, size uint64
	}{1: {0x1fff, 8}, 2: {0x3fff, 8}, 3: {0x7fff, 8}, 4: {0x7fff, 16}, 5: {0xffff, 16}, 6: {0xffff, 24},
		7: {0xffff, 24}, 9: {0xffff, 24}} {
		r, size := ruleset(version, everything)
		require.Equal(t, want.files, r.Handled_access_fs, "version %d", version)
		require.EqualValues(t, want.size, size, "version %d", version)
		require.Equal(t, version >= 4, r.Handled_access_net != 0)
		require.Equal(t, version >= 6, r.Scoped != 0)
	}
}
