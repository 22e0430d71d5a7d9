package shake

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

const width, height = 160, 90

// seen is a scene of boards and furniture, looked at from dx, dy cells beside, in 1/256 grey
// levels, with some noise.
func seen(dx, dy float64, r *rand.Rand) []uint16 {
	cells := make([]uint16, width*height)
	for i := range cells {
		x, y := float64(i%width)+dx, float64(i/width)+dy
		v := 110 + 40*math.Sin(x/5)*math.Cos(y/4) + 25*math.Sin(x/11+y/7)
		cells[i] = uint16(256*v + 60*r.NormFloat64())
	}
	return cells
}

// everyCell are samples all over the picture.
func everyCell() (at []int32) {
	for i := 0; i < width*height; i += 15 {
		at = append(at, int32(i))
	}
	return at
}

// TestSteadyFindsTheShift: by whatever part of a cell the camera looks elsewhere, the picture is
// put back in its place; also with somebody in it.
func TestSteadyFindsTheShift(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	background := seen(0, 0, r)
	for _, shift := range [][2]float64{{0.5, 0}, {0, -0.8}, {1.3, -0.7}, {-2.2, 1.4}} {
		for _, somebody := range []bool{false, true} {
			var s Steady
			s.Resize(width, height, everyCell())
			now := seen(shift[0], shift[1], r)
			for y := 30; somebody && y < 60; y++ {
				for x := 40; x < 55; x++ {
					now[y*width+x] = 20 << 8
				}
			}
			s.Run(background, now)
			require.InDelta(t, -shift[0], s.DX, 0.08, "%v, somebody is there: %v", shift, somebody)
			require.InDelta(t, -shift[1], s.DY, 0.08, "%v, somebody is there: %v", shift, somebody)
			off := 0
			for y := 5; y < height-5; y++ {
				for x := 100; x < width-5; x++ {
					off = max(off, abs(int(now[y*width+x])-int(background[y*width+x])))
				}
			}
			require.Less(t, off, 6<<8, "%v: what is in its place looks as before", shift)
		}
	}
}

func abs(v int) int { return max(v, -v) }

// TestSteadyLeavesTheRest: a camera that stands still, another scene, and a picture that is too
// small are left as they are.
func TestSteadyLeavesTheRest(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	background := seen(0, 0, r)
	other := make([]uint16, len(background))
	for i := range other {
		other[i] = uint16(r.UintN(65000))
	}
	var s Steady
	s.Resize(width, height, everyCell())
	for name, now := range map[string][]uint16{"still": seen(0, 0, r), "another scene": other} {
		was := append([]uint16(nil), now...)
		s.Run(background, now)
		require.Equal(t, was, now, name)
		require.Zero(t, s.DX+s.DY, name)
	}
	s.Resize(9, 7, []int32{0, 10, 62})
	s.Run(background[:63], other[:63])
	require.Zero(t, s.DX+s.DY)
}
