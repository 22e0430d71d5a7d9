package exposure

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion/plane"
)

// sampled returns the samples of cells.
func sampled(s *Fitter, cells []uint16) []uint16 {
	samples := s.Samples()
	s.Take(cells, samples)
	return samples
}

// TestFitFindsTheExposure puts a gain, an offset, noise and a moving thing into a scene; only gain
// and offset may be found.
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
		var s Fitter
		s.Choose(mask)
		s.Look(sampled(&s, y), flags, 3)
		e := s.Fit(sampled(&s, x))
		for _, v := range []float64{60, 100, 140} {
			require.InDelta(t, max(0, min(255, gain*v+offset)), float64(e.Apply(uint16(v*256)))/256, 1.5,
				"gain %v, offset %v", gain, offset)
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
	var s Fitter
	s.Choose(mask)
	s.Look(sampled(&s, y), flags, 3)
	require.Equal(t, plane.Same, s.Fit(sampled(&s, x)))
	clear(mask)
	s.Choose(mask)
	s.Look(sampled(&s, y), flags, 3)
	require.Equal(t, plane.Same, s.Fit(sampled(&s, x)), "everything is masked")
}
