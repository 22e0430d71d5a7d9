package motion

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// sampled returns the samples of cells.
func sampled(s *sampler, cells []uint16) []uint16 {
	samples := s.samples()
	s.take(cells, samples)
	return samples
}

// TestFitFindsTheExposure puts a gain, an offset, noise and a moving thing into a scene; only gain and offset may be found.
func TestFitFindsTheExposure(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		n := 14400
		x, y, flags, mask := make([]uint16, n), make([]uint16, n), make([]byte, n), make([]byte, n)
		gain, offset := 0.6+0.9*r.Float64(), float64(r.IntN(41)-20)
		for i := range x {
			mask[i] = 255
			v := 40 + 120*r.Float64()
			x[i] = uint16(v * 256)
			y[i] = uint16(256 * max(0, min(255, gain*v+offset+r.NormFloat64())))
			if i%5 == 0 { // a thing in front of a fifth
				y[i] = uint16(r.UintN(65000))
			}
		}
		var s sampler
		s.choose(mask)
		s.look(sampled(&s, y), flags, 3)
		e := s.fit(sampled(&s, x))
		for _, v := range []float64{60, 100, 140} {
			require.InDelta(t, max(0, min(255, gain*v+offset)), float64(e.apply(uint16(v*256)))/256, 1.5, "gain %v, offset %v", gain, offset)
		}
	}
}

// TestFitRefusesWhatIsNoExposure: another scene is not the same one in another light.
func TestFitRefusesWhatIsNoExposure(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	x, y, flags, mask := make([]uint16, 9000), make([]uint16, 9000), make([]byte, 9000), make([]byte, 9000)
	for i := range x {
		x[i], y[i], mask[i] = uint16(r.UintN(65000)), uint16(r.UintN(65000)), 255
	}
	var s sampler
	s.choose(mask)
	s.look(sampled(&s, y), flags, 3)
	require.Equal(t, sameExposure, s.fit(sampled(&s, x)))
	clear(mask)
	s.choose(mask)
	s.look(sampled(&s, y), flags, 3)
	require.Equal(t, sameExposure, s.fit(sampled(&s, x)), "everything is masked")
}

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

// TestLabelJoins checks the connected areas against a plain flood fill over the same tiles.
func TestLabelJoins(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 300 {
		g := grid{pictureWidth: 1, pictureHeight: 1, side: 1, width: 1 + r.IntN(30), height: 1 + r.IntN(20)}
		solid, parked := make([]byte, g.cells()), make([]byte, g.cells())
		for i := range solid {
			if r.IntN(7) == 0 {
				solid[i] = 1
			}
			if r.IntN(40) == 0 {
				parked[i] = 2
			}
		}
		var l labeler
		l.resize(g)
		l.label(g, solid, parked)
		want := flood(g, l.width, l.height, solid, parked)
		names := map[uint16]int{}
		for i, v := range want {
			x, y := i%l.width, i/l.width
			require.Equal(t, v != 0, l.set[y*l.words+x/64]>>(x%64)&1 != 0)
			if v == 0 {
				continue // what is there says nothing
			}
			require.NotZero(t, l.tile[i])
			root := l.root(l.tile[i])
			if known, ok := names[root]; ok {
				require.Equal(t, known, v, "two areas have one label")
			}
			names[root] = v
		}
		areas := map[int]bool{}
		for _, v := range names {
			require.False(t, areas[v], "one area has two labels")
			areas[v] = true
		}
	}
}

// flood numbers the connected tiles by flood fill.
func flood(g grid, width, height int, solid, parked []byte) []int {
	set := make([]bool, width*height)
	for i := range solid {
		if solid[i]|parked[i] != 0 {
			set[i/g.width/2*width+i%g.width/2] = true
		}
	}
	number, next := make([]int, width*height), 0
	var fill func(x, y int)
	fill = func(x, y int) {
		if x < 0 || y < 0 || x >= width || y >= height || !set[y*width+x] || number[y*width+x] != 0 {
			return
		}
		number[y*width+x] = next
		for j := -1; j <= 1; j++ {
			for i := -1; i <= 1; i++ {
				fill(x+i, y+j)
			}
		}
	}
	for i := range set {
		if set[i] && number[i] == 0 {
			next++
			fill(i%width, i/width)
		}
	}
	return number
}

func TestGridFitsEverySize(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 60000}, {60000, 1}, {320, 180}, {264, 216}, {180, 320}, {3840, 2160}, {7, 3}, {65536, 2}} {
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
