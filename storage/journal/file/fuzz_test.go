package file_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/sample"
)

// FuzzOpen opens a journal of which one stretch was overwritten. It opens, checks clean and works.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(sample.Folder(f), "journal.db")
	j, err := journal.Open(path, journal.Options{})
	require.NoError(f, err)
	for i := range 5 {
		require.NoError(f, j.Put(sample.Event("cam", time.Duration(i)*time.Second, sample.GoesOn), i%2 == 0))
	}
	require.NoError(f, sample.Crash(path, j.Close))
	image, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(uint32(0), []byte{})
	f.Add(uint32(4096+16), []byte{1, 2, 3})
	f.Add(uint32(8192), bytes.Repeat([]byte{0xff}, 64))
	f.Fuzz(func(t *testing.T, at uint32, b []byte) {
		c := bytes.Clone(image)
		copy(c[int(at)%len(c):], b)
		path := filepath.Join(sample.Folder(t), "journal.db")
		require.NoError(t, os.WriteFile(path, c, 0o600))
		j, err := journal.Open(path, journal.Options{})
		require.NoError(t, err)
		require.NoError(t, j.Put(sample.Event("new", 0, 0), true))
		requireClean(t, j)
		require.NoError(t, j.Close())
	})
}
