package stills

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNewest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "stills")
	r, err := Open(dir, Options{MaxBytes: 1 << 20, SegmentBytes: 64 << 10})
	require.NoError(t, err)
	_, ok := r.Newest("gate", Preview)
	require.False(t, ok)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, after := range []time.Duration{time.Second, 3 * time.Second, 2 * time.Second} {
		require.NoError(t, r.Append(Still{Camera: "gate", Kind: Preview, Time: at.Add(after), JPEG: []byte{1}}))
	}
	for range 2 { // and over a restart
		newest, ok := r.Newest("gate", Preview)
		require.True(t, ok)
		require.True(t, newest.Equal(at.Add(3*time.Second)), newest)
		_, ok = r.Newest("gate", Main)
		require.False(t, ok)
		require.NoError(t, r.Close())
		r, err = Open(dir, Options{MaxBytes: 1 << 20, SegmentBytes: 64 << 10})
		require.NoError(t, err)
	}
	require.NoError(t, r.Close())
}
