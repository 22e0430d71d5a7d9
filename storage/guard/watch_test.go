package guard

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
