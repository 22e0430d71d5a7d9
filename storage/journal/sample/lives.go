package sample

import (
	"flag"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Lives sets how many lives the property tests of this test have, unless the command line says it:
// rapid knows that by flags only.
func Lives(t testing.TB, n int) {
	t.Helper()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		require.NoError(t, f.Value.Set(strconv.Itoa(n)))
		t.Cleanup(func() { require.NoError(t, f.Value.Set(f.DefValue)) })
	}
}
