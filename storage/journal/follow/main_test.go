package follow_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/storage/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a journal and checks it; the end of the test closes it.
func open(t testing.TB, path string, opts journal.Options) *journal.Journal {
	t.Helper()
	j, err := journal.Open(path, opts)
	require.NoError(t, err)
	requireClean(t, j)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return j
}

func requireClean(t testing.TB, j *journal.Journal) {
	t.Helper()
	r, err := j.Check()
	require.NoError(t, err)
	require.Empty(t, r.Problems)
}
