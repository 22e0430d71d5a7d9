package guard

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/vfs/vfstest"
)

func TestWatch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(dir, 0o700))
	w, err := NewWatch(slog.New(slog.DiscardHandler), []string{dir})
	require.NoError(t, err)
	w.grace = 50 * time.Millisecond
	require.NoError(t, w.Gone())
	require.NoError(t, os.Rename(dir, dir+"-moved"))
	require.ErrorIs(t, w.Gone(), ErrGone)
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.ErrorIs(t, w.Gone(), ErrGone, "another folder has its name")
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Rename(dir+"-moved", dir))
	require.NoError(t, w.Gone(), "it is back")

	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- w.Run(ctx) }()
	require.NoError(t, os.RemoveAll(dir))
	select {
	case err := <-ended:
		require.ErrorIs(t, err, ErrGone)
	case <-time.After(10 * time.Second):
		require.Fail(t, "it did not end")
	}
	cancel()
	require.NoError(t, os.Mkdir(dir, 0o700))
	w, err = NewWatch(slog.New(slog.DiscardHandler), []string{dir})
	require.NoError(t, err)
	require.NoError(t, w.Run(ctx), "a stop is no error")
	_, err = NewWatch(slog.New(slog.DiscardHandler), []string{dir + "-none"})
	require.Error(t, err)
}

// TestWatchOfADiskThatComesBackReadOnly: a disk is unmounted beside the program and mounted again,
// and still takes no changes. Nobody is told that all is well before it does.
func TestWatchOfADiskThatComesBackReadOnly(t *testing.T) {
	disk := vfstest.TinyDisk(t, 1<<20)
	parent := filepath.Dir(disk)
	logged, log := io.Pipe()
	w, err := NewWatch(slog.New(slog.NewTextHandler(log, nil)), []string{disk})
	require.NoError(t, err)
	w.grace, w.every = time.Hour, 10*time.Millisecond
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(logged); s.Scan(); {
			lines <- s.Text()
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	require.NoError(t, os.Rename(parent, parent+"-away"))
	go func() { ended <- w.Run(ctx); _ = log.Close() }()
	require.Contains(t, <-lines, "files are gone")
	remount := func(path string, flags uintptr) {
		require.NoError(t, syscall.Mount("", path, "", syscall.MS_REMOUNT|flags, ""))
	}
	remount(filepath.Join(parent+"-away", filepath.Base(disk)), syscall.MS_RDONLY)
	require.NoError(t, os.Rename(parent+"-away", parent))
	line := <-lines
	require.Contains(t, line, "level=ERROR")
	require.Contains(t, line, "but nothing can be written there")
	require.Contains(t, line, "mount it for writing")
	remount(disk, 0)
	line = <-lines
	require.Contains(t, line, "level=INFO")
	require.Contains(t, line, "in their place again")
	cancel()
	require.NoError(t, <-ended)
	require.Empty(t, <-lines, "each is said once")
}
