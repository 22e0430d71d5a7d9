package area

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLabelJoins checks the connected areas against a plain flood fill over the same tiles.
func TestLabelJoins(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 300 {
		wide, high := 1+r.IntN(30), 1+r.IntN(20)
		solid, parked := make([]byte, wide*high), make([]byte, wide*high)
		for i := range solid {
			if r.IntN(7) == 0 {
				solid[i] = 1
			}
			if r.IntN(40) == 0 {
				parked[i] = 2
			}
		}
		var l Finder
		l.Resize(wide, high)
		l.Label(solid, parked)
		l.lay()
		want := flood(wide, l.width, l.height, solid, parked)
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
func flood(wide, width, height int, solid, parked []byte) []int {
	set := make([]bool, width*height)
	for i := range solid {
		if solid[i]|parked[i] != 0 {
			set[i/wide/2*width+i%wide/2] = true
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

// TestSpreadIsPlain looks at every tile in turn. Pictures are wider than a word of tiles, or two.
func TestSpreadIsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 4))
	for range 300 {
		wide, high := 1+r.IntN(300), 1+r.IntN(20)
		var l Finder
		l.Resize(wide, high)
		some := 1 + r.IntN(30)
		parked := make([]byte, wide*high)
		for i := range parked {
			if r.IntN(some) == 0 {
				parked[i] = 1
			}
		}
		l.Label(make([]byte, wide*high), parked)
		near := make([]bool, l.width*l.height)
		for i := range near {
			x, y := i%l.width, i/l.width
			if near[i] || l.stands[y*l.words+x/64]>>(x%64)&1 == 0 {
				continue
			}
			for v := max(0, y-1); v <= min(l.height-1, y+1); v++ {
				for u := max(0, x-1); u <= min(l.width-1, x+1); u++ {
					near[v*l.width+u] = true
				}
			}
		}
		for i, want := range near {
			x, y := i%l.width, i/l.width
			require.Equal(t, want, l.near[y*l.words+x/64]>>(x%64)&1 == 1, "tile %d,%d of %d", x, y, l.width)
		}
	}
}
