package sample

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Torture lives one life after the other until TORTURE_FOR is over, each from a seed of its own,
// the first from TORTURE_SEED, and each in a subtest, so that its folders go: scripts/torture
// journal. Where TORTURE_FOR is not set, the test is skipped.
func Torture(t *testing.T, life func(t *testing.T, seed uint64)) {
	t.Helper()
	if os.Getenv("TORTURE_FOR") == "" {
		t.Skip("this goes on for hours: scripts/torture journal 1h")
	}
	span, err := time.ParseDuration(os.Getenv("TORTURE_FOR"))
	require.NoError(t, err)
	seed, err := strconv.ParseUint(os.Getenv("TORTURE_SEED"), 10, 64)
	require.NoError(t, err)
	for end := time.Now().Add(span); time.Now().Before(end); seed++ {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { life(t, seed) })
	}
}
