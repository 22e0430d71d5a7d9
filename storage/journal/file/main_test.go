package file_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
)

// The file is tested through the journal on it: what a journal holds is what must outlive damage.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ofForm makes a file that is not open one of another form, as far as its version says.
func ofForm(t *testing.T, path string, version byte) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t,
		db.Update(func(tx *bolt.Tx) error { return tx.Bucket(schema.Format).Put(schema.KeyVersion, []byte{version}) }))
	require.NoError(t, db.Close())
}

// TestTorture damages files at random, and fails and cuts disks, for TORTURE_FOR: scripts/torture
// journal.
func TestTorture(t *testing.T) {
	sample.Torture(t, func(t *testing.T, seed uint64) {
		randomDamage(t, seed)
		faultThenCrash(t, seed)
	})
}

// openChecked opens a journal that is to be whole; the end of the test closes it.
func openChecked(t testing.TB, path string, opts journal.Options) *journal.Journal {
	t.Helper()
	j, err := journal.Open(path, opts)
	require.NoError(t, err)
	requireClean(t, j)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return j
}

// requireClean fails the test if anything is wrong with a journal.
func requireClean(t testing.TB, j *journal.Journal) {
	t.Helper()
	r, err := j.Check()
	require.NoError(t, err)
	require.Empty(t, r.Problems)
}
