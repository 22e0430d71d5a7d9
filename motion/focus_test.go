package motion_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
)

// blur takes the mean of the pixels at most reach away, in both directions.
func (s *scene) blur(reach int) {
	for range 2 { // along the rows, turned over, and again
		turned := make([]float64, len(s.picture))
		for y := range s.height {
			row := s.picture[y*s.width : (y+1)*s.width]
			for x := range row {
				sum, n := 0.0, 0.0
				for _, v := range row[max(0, x-reach):min(s.width, x+reach+1)] {
					sum, n = sum+v, n+1
				}
				turned[x*s.height+y] = sum / n
			}
		}
		copy(s.picture, turned)
		s.width, s.height = s.height, s.width
	}
}

// TestFocusHunts: the lens searches for its focus again and again, out and in, which changes every
// edge of the picture; that is nobody. Who walks there meanwhile is found.
func TestFocusHunts(t *testing.T) {
	for _, soft := range []float64{3, 6} {
		s := newScene(320, 180, 61, 2)
		const enters, speed = 27.3, 0.16
		got := watch(t, motion.Config{}, s, 10, 38*time.Second, func(at float64) {
			if at >= enters {
				s.thing(-0.06+speed*(at-enters), 0.4, 0.06, 0.35, 45, 20)
			}
			if ago := math.Mod(at, 5) - 3.5; at > 5 && ago > 0 && ago < 1.3 {
				s.blur(int(soft * math.Pow(math.Sin(math.Pi*ago/1.3), 2)))
			}
		})
		require.Len(t, got.began, 1, first(got))
		require.InDelta(t, enters, offset(got.began[0].Start), 0.35)
		require.InDelta(t, enters+1.06/speed, offset(got.ended[0].Last), 0.5)
	}
}
