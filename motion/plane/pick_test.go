package plane

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPickIsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	for range 500 {
		cells, _ := fenced(t, r, fill[uint16](r, 1+r.IntN(300), 65535))
		flags, _ := fenced(t, r, fill[uint8](r, len(cells), 255))
		var at []int32
		for i, some := 0, 1+r.IntN(20); i < len(cells); i++ {
			if r.IntN(some) == 0 {
				at = append(at, int32(i))
			}
		}
		n := len(at) + r.IntN(20) // there may be more places
		want := fill[uint16](r, n, 65535)
		got, check := fenced(t, r, want)
		pickPlain(cells, at, want)
		Pick(cells, at, got)
		require.Equal(t, want, got[:n:n])
		check()
		some := byte(r.UintN(256))
		flaggedPlain(flags, at, some, want)
		Flagged(flags, at, some, got)
		require.Equal(t, want, got[:n:n])
		check()
	}
}

func TestPickOutside(t *testing.T) {
	for _, at := range [][]int32{{-1, 0, 1, 2}, {0, 1, 2, 3, 4}} {
		require.Panics(t, func() { Pick(make([]uint16, 4), at, make([]uint16, 5)) })
		require.Panics(t, func() { Flagged(make([]byte, 4), at, 3, make([]uint16, 5)) })
	}
}
