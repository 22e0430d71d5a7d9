package motion_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
)

// snowfall draws flakes that fall through a scene, the same ones from picture to picture.
func snowfall(count int, seed uint64) func(s *scene, at float64) {
	r := rand.New(rand.NewPCG(seed, 5))
	type flake struct{ x, y, fall, size float64 }
	flakes := make([]flake, count)
	for i := range flakes {
		flakes[i] = flake{r.Float64(), r.Float64(), 0.25 + 0.35*r.Float64(), 0.010 + 0.006*r.Float64()}
	}
	return func(s *scene, at float64) {
		for i, f := range flakes {
			x, y := f.x+0.01*math.Sin(at+float64(i)), f.y+f.fall*at
			s.thing(x, 1.1*(y-math.Floor(y))-0.05, f.size, 1.7*f.size, 225, 0)
		}
	}
}

// TestSnowIsNobody: flakes beside someone who walks are no part of them: they neither begin the walk early nor end it late, and alone are nothing.
func TestSnowIsNobody(t *testing.T) {
	for seed := range uint64(4) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			s, fall := newScene(320, 180, 21+seed, 2), snowfall(45, seed)
			const enters, speed = 8.0, 0.12
			leaves := enters + 1.05/speed
			got := watch(t, motion.Config{}, s, 10, 26*time.Second, func(at float64) {
				if at >= enters {
					s.thing(-0.05+speed*(at-enters), 0.45, 0.05, 0.3, 40, 20)
				}
				fall(s, at)
			})
			require.Len(t, got.began, 1, first(got))
			require.InDelta(t, enters, offset(got.began[0].Start), 0.55)
			require.InDelta(t, leaves, offset(got.ended[0].Last), 0.5)
		})
	}
}

// TestBandsAreNotNoise: lamps that beat with the shutter move bright and dark bands over the picture; who walks there, and differs by little, is found all the same, and the bands alone
// are nothing.
func TestBandsAreNotNoise(t *testing.T) {
	for _, c := range []struct {
		name         string
		bands, speed float64
	}{{"broad", 0.5, 1.3}, {"narrow", 2.5, 3.1}, {"at a quarter of the rate", 1.2, 2.5}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(320, 180, 31, 2)
			const enters, speed = 8.0, 0.2
			got := watch(t, motion.Config{}, s, 10, 20*time.Second, func(at float64) {
				if at >= enters {
					s.thing(-0.06+speed*(at-enters), 0.4, 0.06, 0.4, 95, 15)
				}
				for y := range s.height {
					gain := 1 + 0.09*math.Sin(2*math.Pi*(c.speed*at+c.bands*float64(y)/float64(s.height)))
					for x := range s.width {
						s.picture[y*s.width+x] *= gain
					}
				}
			})
			require.Len(t, got.began, 1, first(got))
			require.InDelta(t, enters, offset(got.began[0].Start), 0.35)
			require.InDelta(t, enters+1.06/speed, offset(got.ended[0].Last), 0.5)
		})
	}
}
