package boltfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
)

// TestFits: a crash may leave one meta page torn and the other one as it was before the state. A
// file put back from a copy has two good ones, both older.
func TestFits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := bolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	change := func() {
		require.NoError(t, db.Update(func(tx *bolt.Tx) error {
			_, err := tx.CreateBucketIfNotExists([]byte("b"))
			return err
		}))
	}
	change()
	change()
	change()
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	change()
	tx, err := db.Begin(false)
	require.NoError(t, err)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	page := db.Info().PageSize
	s, err := StateOf(file, uint64(tx.ID()), page)
	require.NoError(t, err)
	at := int64(tx.ID()%2) * int64(page)
	require.NoError(t, tx.Rollback())
	require.NoError(t, db.Close())
	require.True(t, s.Fits(file))

	other := int64(page) - at
	_, err = file.WriteAt(before[other:other+int64(page)], other)
	require.NoError(t, err)
	_, err = file.WriteAt(make([]byte, 40), at+headerBytes+24)
	require.NoError(t, err)
	require.True(t, s.Fits(file), "the state's own place holds a newer one, torn")
	_, err = file.WriteAt(before[at:at+int64(page)], at)
	require.NoError(t, err)
	require.False(t, s.Fits(file), "both are older")
	require.NoError(t, file.Close())
}
