package motion

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The smoothing is 1 2 1 in both directions, twice rounded, with the border's cells counted twice.
func TestSmoothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{3, 3}, {5, 4}, {16, 9}, {33, 7}} {
		w, h := size[0], size[1]
		cells := make([]uint16, w*h)
		for i := range cells {
			cells[i] = uint16(r.Uint32())
		}
		at := func(of []uint16, x, y int) uint32 {
			return uint32(of[max(0, min(h-1, y))*w+max(0, min(w-1, x))])
		}
		across, want := make([]uint16, w*h), make([]uint16, w*h)
		for i := range cells {
			x, y := i%w, i/w
			across[i] = uint16((at(cells, x-1, y) + 2*at(cells, x, y) + at(cells, x+1, y) + 2) >> 2)
		}
		for i := range cells {
			x, y := i%w, i/w
			want[i] = uint16((at(across, x, y-1) + 2*at(across, x, y) + at(across, x, y+1) + 2) >> 2)
		}
		var s smoother
		s.resize(w, h)
		off := append([]uint16(nil), cells...)
		s.run(off, w)
		require.Equal(t, cells, off, "off, it does nothing")
		s.on = true
		s.run(cells, w)
		require.Equal(t, want, cells, "%dx%d", w, h)
	}
}
