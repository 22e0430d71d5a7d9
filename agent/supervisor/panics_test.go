package supervisor

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCaught(t *testing.T) {
	var nothing map[string]int
	err := Caught(func() error { nothing["x"] = 1; return nil })()
	require.ErrorContains(t, err, "nil map")
	require.ErrorContains(t, err, "panics_test.go", "the stack says where")
	plain := errors.New("plain")
	require.ErrorIs(t, Caught(func() error { return plain })(), plain)
	require.NoError(t, Caught(func() error { return nil })())
}
