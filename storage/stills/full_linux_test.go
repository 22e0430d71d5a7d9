package stills

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/vfs"
	"vmsbridge/storage/vfs/vfstest"
)

func TestFullDisk(t *testing.T) {
	dir := vfstest.TinyDisk(t, 1<<20)
	opts := small // up to 1 MiB, which the disk does not have
	opts.FlushEvery = time.Millisecond
	r := open(t, filepath.Join(dir, "stills"), opts)
	require.NoError(t, r.Flush()) // the list of segments takes its space
	var list []Still
	put := func(n int) {
		for range n {
			s := still("cam", Preview, time.Duration(len(list))*time.Second, 14000)
			require.NoError(t, r.Append(s))
			list = append(list, s)
			requireStill(t, r, s, At, s.Time)
		}
	}
	put(100)
	require.NotZero(t, r.Stats().DroppedSegments)
	before := r.Stats().Segments

	// Something else takes space: the ring gives way, and takes it back.
	ballast := filepath.Join(dir, "ballast")
	freed, err := r.Release(400 << 10)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(ballast, make([]byte, freed-100<<10), 0o600))
	put(100)
	require.Less(t, r.Stats().Segments, before)
	require.NoError(t, os.Remove(ballast))
	put(100)
	require.GreaterOrEqual(t, r.Stats().Segments, before)
}

// TestCapCountsOpenFiles looks at the file system itself: a segment that is deleted before it was
// flushed must not go on to take its space.
func TestCapCountsOpenFiles(t *testing.T) {
	dir := vfstest.TinyDisk(t, 2<<20)
	opts := small
	opts.MaxBytes = 4 * opts.SegmentBytes
	empty, err := vfs.OS.Free(dir)
	require.NoError(t, err)
	r := open(t, filepath.Join(dir, "stills"), opts)
	for i := range 200 {
		require.NoError(t, r.Append(still("cam", Preview, time.Duration(i)*time.Second, 14000)))
		free, err := vfs.OS.Free(dir)
		require.NoError(t, err)
		require.LessOrEqual(t, empty-free, opts.MaxBytes)
	}
}

func TestFullDiskWithNothingToDrop(t *testing.T) {
	dir := vfstest.TinyDisk(t, 256<<10)
	ballast := filepath.Join(dir, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 220<<10), 0o600))
	r := open(t, filepath.Join(dir, "stills"), small)
	s := still("cam", Preview, 0, 100)
	err := r.Append(s)
	require.ErrorIs(t, err, ErrFull)
	require.ErrorContains(t, err, "free disk space")
	require.Empty(t, segmentFiles(t, filepath.Join(dir, "stills")), "no half segment is left")
	require.NoError(t, os.Remove(ballast))
	require.ErrorIs(t, r.Append(s), ErrFull, "it does not try at every picture")
	_, err = r.Release(0)
	require.NoError(t, err)
	require.NoError(t, r.Append(s))
	requireStill(t, r, s, At, s.Time)
}

// TestMinFree leaves room for others, down to two segments.
func TestMinFree(t *testing.T) {
	dir := vfstest.TinyDisk(t, 2<<20)
	opts := small
	opts.MinFree = 1<<20 + 512<<10
	r := open(t, filepath.Join(dir, "stills"), opts)
	for i := range 100 {
		require.NoError(t, r.Append(still("cam", Preview, time.Duration(i)*time.Second, 14000)))
		free, err := vfs.OS.Free(dir)
		require.NoError(t, err)
		require.GreaterOrEqual(t, free, opts.MinFree)
	}
	require.Greater(t, r.Stats().Segments, 3)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 1<<20), 0o600))
	for i := range 100 {
		require.NoError(t, r.Append(still("cam", Preview, time.Hour+time.Duration(i)*time.Second, 14000)))
	}
	require.Equal(t, minSegments, r.Stats().Segments)
}
