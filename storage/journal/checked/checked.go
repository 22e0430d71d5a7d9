// Package checked is for tests only: journals that are open and were found to be whole. The tests
// of rooms below the journal, which look at it from outside, have theirs from here; the journal's
// own tests cannot, for they are part of it.
//
//	j := checked.Open(t, sample.Path(t), journal.Options{})   // closed by the end of the test
//	checked.Clean(t, j)                                       // still whole
package checked

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
)

// Open opens a journal and checks it; the end of the test closes it.
func Open(t testing.TB, path string, opts journal.Options) *journal.Journal {
	t.Helper()
	j, err := journal.Open(path, opts)
	require.NoError(t, err)
	Clean(t, j)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return j
}

// Clean fails the test if anything is wrong with a journal.
func Clean(t testing.TB, j *journal.Journal) {
	t.Helper()
	r, err := j.Check()
	require.NoError(t, err)
	require.Empty(t, r.Problems)
}
