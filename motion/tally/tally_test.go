package tally

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// values returns n of them at any alignment, many at the ends of the scale or close together.
func values(r *rand.Rand, n int) []uint16 {
	first := r.IntN(9)
	v := make([]uint16, first+n)[first:]
	middle := r.IntN(65536)
	for i := range v {
		switch r.IntN(4) {
		case 0:
			v[i] = uint16(r.UintN(3))
		case 1:
			v[i] = uint16(65535 - r.UintN(3))
		case 2:
			v[i] = uint16(r.UintN(65536))
		default:
			v[i] = uint16(max(0, min(65535, middle+r.IntN(1200)-600)))
		}
	}
	return v
}

// skips returns marks of which some are set.
func skips(r *rand.Rand, n int) []uint16 {
	skip := make([]uint16, n)
	often := r.IntN(5)
	for i := range skip {
		if r.IntN(4) < often {
			skip[i] = None
		}
	}
	return skip
}

func TestStepsArePlain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		n := r.IntN(70)
		x, y, skip, want := values(r, n), values(r, n), skips(r, n), make([]uint16, n)
		all := slices.Repeat([]uint16{0xA5A5}, n+40)
		got := all[20 : 20+n]
		stepsPlain(x, y, skip, want)
		Steps(x, y, skip, got)
		require.Equal(t, want, got, "%d from %d", y, x)
		for i, v := range all {
			require.True(t, i >= 20 && i < 20+n || v == 0xA5A5, "value %d beside a slice of %d was written to", i-20, n)
		}
	}
	got := make([]uint16, 4)
	Steps([]uint16{0, 65535, 1000, 1000}, []uint16{65535, 0, 999, 1000}, []uint16{0, 0, 0, None}, got)
	require.Equal(t, []uint16{Same + 255, 0, Same - 1, None}, got)
}

func TestWithoutIsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 300 {
		n := r.IntN(70)
		from, skip, want := values(r, n), skips(r, n), make([]uint16, n)
		all := slices.Repeat([]uint16{0xA5A5}, n+40)
		got := all[20 : 20+n]
		withoutPlain(want, from, skip)
		Without(got, from, skip)
		require.Equal(t, want, got)
		for i, v := range all {
			require.True(t, i >= 20 && i < 20+n || v == 0xA5A5, "value %d beside a slice of %d was written to", i-20, n)
		}
	}
}

func TestAtMostIsPlain(t *testing.T) { everyWidth(t, testAtMost) }

func testAtMost(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		n := r.IntN(100)
		if i%100 == 0 {
			n = 70_000 + r.IntN(100)
		}
		v, skip := values(r, n), skips(r, n)
		for _, limit := range []uint16{0, 1, 2, None - 1, uint16(r.UintN(65535)), uint16(r.UintN(65535))} {
			require.Equal(t, atMostPlain(v, skip, limit), AtMost(v, skip, limit), "%d values, limit %d", n, limit)
		}
	}
	zeroes := make([]uint16, 200_001)
	require.Equal(t, len(zeroes), AtMost(zeroes, zeroes, 0))
}

// TestLeastIsAQuantile compares with sorting.
func TestLeastIsAQuantile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for range 500 {
		n := 1 + r.IntN(90)
		v, skip := values(r, n), skips(r, n)
		var levels []int
		for i, x := range v {
			if skip[i] == 0 {
				levels = append(levels, int(x>>8))
			}
		}
		if len(levels) == 0 {
			continue
		}
		slices.Sort(levels)
		need := 1 + r.IntN(len(levels))
		require.Equal(t, levels[need-1], Least(v, skip, 8, need, r.IntN(400)-70, 255), "%d of %v", need, levels)
	}
}
