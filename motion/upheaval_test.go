package motion_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
)

// infrared shows the scene by so much of infrared light, which its materials reflect in their own
// way.
func (s *scene) infrared(share float64) {
	r := rand.New(rand.NewPCG(5, 5))
	var patch [64]float64
	for i := range patch {
		patch[i] = 40 + 150*r.Float64()
	}
	for i := range s.picture {
		x, y := i%s.width*8/s.width, i/s.width*8/s.height
		s.picture[i] = (1-0.8*share)*s.picture[i] + 0.8*share*patch[y*8+x]
	}
}

// Another scene, as an infrared cut makes it: everything has another brightness that no exposure
// explains. That is no motion, and who walks a second later is found.
func TestAnInfraredCutIsNoMotion(t *testing.T) {
	for _, walks := range []bool{false, true} {
		s := newScene(320, 180, 1, 2)
		got := watch(t, motion.Config{}, s, 10, 16*time.Second, func(at float64) {
			if at >= 5 {
				s.infrared(1)
			}
			if walks && at >= 7 {
				walker(s, -0.08+0.2*(at-7))
			}
		})
		if !walks {
			require.Empty(t, got.began)
			continue
		}
		require.Len(t, got.began, 1)
		require.InDelta(t, 7.05, offset(got.began[0].Start), 0.25)
	}
}

// Who comes just before an infrared cut, or while the picture settles after it, is found with the
// picture in which they came, give or take.
func TestWhoComesWithAnInfraredCut(t *testing.T) {
	for _, comes := range []float64{4.8, 5.1} {
		s := newScene(320, 180, 1, 2)
		got := watch(t, motion.Config{}, s, 10, 16*time.Second, func(at float64) {
			s.infrared(min(1, max(0, (at-5)/0.8))) // the filter swings, and the exposure follows
			if at >= comes {
				walker(s, -0.08+0.2*(at-comes))
			}
		})
		require.Len(t, got.began, 1)
		require.InDelta(t, comes+0.05, offset(got.began[0].Start), 0.3)
	}
}

// By night a cell alone is all noise: who walks there is found all the same, and nothing else is.
func TestWalksInStrongNoise(t *testing.T) {
	for _, walks := range []bool{false, true} {
		s := newScene(320, 180, 1, 22)
		got := watch(t, motion.Config{}, s, 10, 20*time.Second, func(at float64) {
			if walks && at >= 8 {
				walker(s, -0.08+0.2*(at-8))
			}
		})
		if !walks {
			require.Empty(t, got.began)
			continue
		}
		require.Len(t, got.began, 1)
		require.InDelta(t, 8.05, offset(got.began[0].Start), 0.35)
	}
}
