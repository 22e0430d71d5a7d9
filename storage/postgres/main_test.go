package postgres

import (
	"flag"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/postgres/postgrestest"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// lives sets how many lives a property test has: a step is a round trip or more.
func lives(t *testing.T, n int) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		require.NoError(t, f.Value.Set(strconv.Itoa(n)))
		t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
	}
}

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
