package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/postgres/postgrestest"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// open opens a database of the test's own.
func open(t testing.TB) (*DB, string) {
	t.Helper()
	address := postgrestest.Shared(t).Database(t)
	return openAt(t, address), address
}

func openAt(t testing.TB, address string) *DB {
	t.Helper()
	db, err := Open(t.Context(), address, Options{Name: t.Name()})
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return db
}
