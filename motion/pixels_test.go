package motion

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// guard is written around what a fast version may write to, and must still be there afterwards.
const guard = 0xA5

// guarded returns a slice of n bytes inside a larger one, and a check that nothing around it was written to.
func guarded(t *testing.T, n int) ([]byte, func()) {
	all := make([]byte, n+64)
	for i := range all {
		all[i] = guard
	}
	return all[32 : 32+n : 32+n], func() {
		for i, v := range all {
			if i < 32 || i >= 32+n {
				require.EqualValues(t, guard, v, "byte %d beside a slice of %d was written to", i-32, n)
			}
		}
	}
}

// TestReduceIsTheMean compares the fast reductions with the plain one, on odd sizes with strides of their own.
func TestReduceIsTheMean(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		side := 1 + r.IntN(2)
		w, h := 1+r.IntN(41), 1+r.IntN(9)
		stride := w*side + r.IntN(5)
		luma := make([]byte, (h*side-1)*stride+w*side)
		for i := range luma {
			luma[i] = byte(r.UintN(256))
			if r.IntN(4) == 0 {
				luma[i] = 255
			}
		}
		want, got := make([]uint16, w*h), make([]uint16, w*h+1)
		got[w*h] = 0xA5A5
		reducePlain(luma, stride, side, w, h, want)
		if side == 1 {
			widen(luma, stride, w, h, got)
		} else {
			reduceTwo(luma, stride, w, h, got)
		}
		require.Equal(t, want, got[:w*h], "side %d, %dx%d, stride %d", side, w, h, stride)
		require.EqualValues(t, 0xA5A5, got[w*h])
	}
}

func TestReducePlain(t *testing.T) {
	got := make([]uint16, 2)
	reducePlain([]byte{10, 20, 30, 1, 1, 40, 50, 60, 2, 2, 70, 80, 90, 3, 3}, 5, 3, 1, 1, got)
	require.EqualValues(t, 50*256, got[0])
	reducePlain([]byte{0, 255, 255, 255}, 2, 2, 1, 1, got)
	require.EqualValues(t, 3*255*64, got[0])
}

// TestClassifyIsPlain compares the fast classification with the plain one.
func TestClassifyIsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 300 {
		n := r.IntN(200)
		now, before, background, noise := make([]uint16, n), make([]uint16, n), make([]uint16, n), make([]uint16, n)
		for i := range n {
			now[i] = uint16(r.UintN(65281))
			before[i], background[i] = now[i]+uint16(r.IntN(8000))-4000, now[i]+uint16(r.IntN(8000))-4000
			noise[i] = uint16(r.UintN(twigNoise))
		}
		e := exposure{gain: int32(r.IntN(4 * gainOne)), offset: int32(r.IntN(65536) - 32768)}
		if r.IntN(2) == 0 {
			e = sameExposure
		}
		contrast := int32(r.IntN(5000))
		want := make([]byte, n)
		got, check := guarded(t, n)
		classifyPlain(now, before, e, background, noise, contrast, want)
		classify(now, before, e, background, noise, contrast, got)
		require.Equal(t, want, got[:n:n])
		check()
	}
}

// TestDespeckleIsPlain compares the fast despeckling with the plain one.
func TestDespeckleIsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 500 {
		w, h := 1+r.IntN(50), 1+r.IntN(12)
		flags, mask, want := make([]byte, w*h), make([]byte, w*h), make([]byte, w*h)
		share := r.IntN(10)
		for i := range flags {
			if r.IntN(10) < share {
				flags[i] = byte(r.UintN(4))
			}
			if r.IntN(8) != 0 {
				mask[i] = 255
			}
		}
		var d despeckler
		d.resize(w, h)
		d.run(mask, mask, w, h, make([]byte, w*h)) // leaves something to clear
		got, check := guarded(t, w*h)
		count := despecklePlain(flags, mask, w, h, want)
		require.Equal(t, count, d.run(flags, mask, w, h, got), "%dx%d", w, h)
		require.Equal(t, want, got[:w*h:w*h], "%dx%d", w, h)
		check()
	}
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
		e := s.fit(x, y, flags, 3)
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
	require.Equal(t, sameExposure, s.fit(x, y, flags, 3))
	clear(mask)
	s.choose(mask)
	require.Equal(t, sameExposure, s.fit(x, y, flags, 3), "everything is masked")
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
			if v == 0 {
				require.Zero(t, l.tile[i])
				continue
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
