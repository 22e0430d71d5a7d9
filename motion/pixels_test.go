package motion

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCompareTellsLightFromThings looks at one block.
func TestCompareTellsLightFromThings(t *testing.T) {
	block := func(f func(x, y int) int) []uint16 {
		b := make([]uint16, 64)
		for i := range b {
			b[i] = uint16(f(i%8, i/8) * 256)
		}
		return b
	}
	texture := block(func(x, y int) int { return 100 + 30*(x/2%2) + 10*(y/3%2) })
	dark := block(func(x, y int) int { return 40 + 12*(x/2%2) + 4*(y/3%2) })
	other := block(func(x, y int) int { return 100 + 30*(y/2%2) })
	flat := block(func(int, int) int { return 90 })
	brighter := block(func(int, int) int { return 120 })
	for _, c := range []struct {
		name        string
		now, before []uint16
		want        verdict
	}{
		{"less light", dark, texture, lit},
		{"more light", texture, dark, lit},
		{"something else", other, texture, changed},
		{"something in front of a wall", texture, flat, changed},
		{"a wall in another light", brighter, flat, unsure},
	} {
		require.Equal(t, c.want, compare(c.now, c.before, 8, 0, 0, 8, 8, 40), c.name)
	}
}

func TestGridFitsEverySize(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 60000}, {60000, 1}, {320, 180}, {264, 216}, {180, 320}, {3840, 2160},
		{7, 3}, {65536, 2}} {
		g := newGrid(size[0], size[1])
		require.Positive(t, g.width)
		require.Positive(t, g.height)
		require.LessOrEqual(t, g.cells(), maxCells)
		require.LessOrEqual(t, g.width*g.side, size[0])
		require.LessOrEqual(t, g.height*g.side, size[1])
	}
	require.Equal(t, 2, newGrid(320, 180).side)
	require.Equal(t, 2, newGrid(264, 216).side)
}
