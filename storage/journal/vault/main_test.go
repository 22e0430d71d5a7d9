package vault_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/sample"
)

// The vault is tested through the journal on it: what a journal holds is what must outlive damage.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ofForm makes a file that is not open one of another form, as far as its version says.
func ofForm(t *testing.T, path string, version byte) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t,
		db.Update(func(tx *bolt.Tx) error { return tx.Bucket(form.Format).Put(form.KeyVersion, []byte{version}) }))
	require.NoError(t, db.Close())
}

// TestTorture damages files at random for TORTURE_FOR: scripts/torture journal.
func TestTorture(t *testing.T) { sample.Torture(t, randomDamage) }
