package motion_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
)

// TestAShakingCameraIsNoMotion: wind shakes the mast by up to a hundredth of the picture, from the
// first picture on. Nothing is found until somebody walks by, who is found from the first picture,
// and outlined where the camera sees them.
func TestAShakingCameraIsNoMotion(t *testing.T) {
	for _, most := range []int{1, 3} {
		for _, walks := range []bool{false, true} {
			s := newScene(320, 180, 4, 2)
			r := rand.New(rand.NewPCG(6, uint64(most)))
			d, err := motion.New(motion.Config{})
			require.NoError(t, err)
			luma, mask := make([]byte, 320*180), make([]byte, 320*180)
			var began []float64
			for i := range 120 {
				at := float64(i) / 10
				s.empty()
				x := -0.08 + 0.2*(at-6)
				if walks && at >= 6 {
					walker(s, x)
				}
				p := s.take(epoch.Add(time.Duration(i) * 100 * time.Millisecond))
				dx, dy := r.IntN(2*most+1)-most, r.IntN(2*most+1)-most
				for k := range luma {
					u, v := max(0, min(319, k%320-dx)), max(0, min(179, k/320-dy))
					luma[k] = p.Luma[v*320+u]
				}
				p.Luma = luma
				for _, c := range d.Step(p).Changes {
					if c.Kind == motion.Began {
						began = append(began, offset(c.Start))
					}
				}
				d.ActivityMask(mask, 320, 180)
				if walks && at > 6.8 && x < 0.9 {
					left, top := x+float64(dx)/320, float64(dy)/180
					recall, precision := overlap(mask, 320, 180,
						motion.Box{Left: left, Top: 0.35 + top, Right: left + 0.08, Bottom: 0.85 + top})
					require.Greater(t, recall, 0.75, "by up to %d pixels, at %v s", most, at)
					require.Greater(t, precision, 0.7, "by up to %d pixels, at %v s", most, at)
				}
			}
			if !walks {
				require.Empty(t, began, "by up to %d pixels", most)
				continue
			}
			require.Len(t, began, 1)
			require.InDelta(t, 6.05, began[0], 0.25)
		}
	}
}
