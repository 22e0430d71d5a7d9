package file_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/sample"
)

// What was counted below a page holds for later states of the file, until a checkpoint lets the
// page be written over, or another file comes.
func TestSteadyEndsWithItsPages(t *testing.T) {
	steady := func(f *file.File) (s *file.Steady, fresh bool) {
		require.NoError(t, f.View(func(tx *bolt.Tx) error { s, fresh = f.Steady(tx); return nil }))
		return s, fresh
	}
	f := openFile(t, sample.Path(t), file.Options{})
	putEvents(t, f, 0, 2)
	s, fresh := steady(f)
	require.Nil(t, s)
	require.False(t, fresh)
	f.KeepSteady()
	s, fresh = steady(f)
	require.NotNil(t, s)
	require.True(t, fresh)
	s.Counted(9, 3)
	putEvents(t, f, 2, 3)
	f.KeepSteady()
	later, fresh := steady(f)
	require.Same(t, s, later)
	require.False(t, fresh, "the file has changed")
	n, ok := later.Count(9)
	require.True(t, ok)
	require.Equal(t, 3, n)
	_, ok = later.Count(10)
	require.False(t, ok)
	_, err := f.Compact(t.Context())
	require.NoError(t, err)
	s, _ = steady(f)
	require.Nil(t, s, "another file")

	f = openFile(t, sample.Path(t), file.Options{CheckpointBytes: 1})
	putEvents(t, f, 0, 2)
	var before *file.Steady
	require.Eventually(t, func() bool { // a checkpoint may be under way
		f.KeepSteady()
		before, _ = steady(f)
		return before != nil
	}, time.Minute, time.Millisecond)
	putEvents(t, f, 2, 4)
	require.Eventually(t, func() bool { s, _ := steady(f); return s != before }, time.Minute, time.Millisecond,
		"its pages may be written over after a checkpoint")
}
