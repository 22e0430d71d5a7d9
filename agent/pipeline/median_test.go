package pipeline

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMedianIsThatOfSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	require.Zero(t, median(nil))
	for range 20_000 {
		v := make([]float64, 1+r.IntN(90))
		for i := range v {
			v[i] = float64(r.IntN(1 + r.IntN(40))) // many are the same
		}
		sorted := slices.Sorted(slices.Values(v))
		require.Equal(t, sorted[len(v)/2], median(slices.Clone(v)), "%v", v)
	}
}
