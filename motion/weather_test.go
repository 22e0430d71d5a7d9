package motion_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
	"vmsbridge/scripts/harness"
)

// scenesOf is how many scenes of a kind are drawn: one under the race detector, which slows the
// drawing down.
func scenesOf(n uint64) uint64 {
	if harness.Race {
		return 1
	}
	return n
}

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

// TestSnowIsNobody: flakes beside someone who walks are no part of them: they neither begin the
// walk early nor end it late, and alone are nothing.
func TestSnowIsNobody(t *testing.T) {
	for seed := range scenesOf(4) {
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

// TestBandsAreNotNoise: lamps that beat with the shutter move bright and dark bands over the
// picture; who walks there, and differs by little, is found all the same, and the bands alone are
// nothing.
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

// TestSmallByNight: who is small and differs by little is found in strong noise, by going far,
// straight on.
func TestSmallByNight(t *testing.T) {
	for seed := range scenesOf(3) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			s := newScene(320, 180, 41+seed, 9)
			const enters, speed = 8.0, 0.07
			got := watch(t, motion.Config{}, s, 10, 28*time.Second, func(at float64) {
				if at >= enters {
					s.thing(-0.035+speed*(at-enters), 0.08, 0.035, 0.13, 92, 0)
				}
			})
			require.NotEmpty(t, got.began, "nobody is found")
			require.InDelta(t, enters, offset(got.began[0].Start), 1.5)
			require.InDelta(t, enters+1.035/speed, offset(got.ended[len(got.ended)-1].Last), 1.5)
		})
	}
}

// TestFlagIsNobody: what flaps stays where it has been moving all the time, however its stripes
// run.
func TestFlagIsNobody(t *testing.T) {
	for seed := range scenesOf(4) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			s := newScene(320, 180, 51+seed, 2)
			r := rand.New(rand.NewPCG(seed, 6))
			x, y, wide, high, pace := 0.3+0.3*r.Float64(), 0.1+0.2*r.Float64(), 0.06+0.06*r.Float64(),
				0.09+0.06*r.Float64(), 4+5*r.Float64()
			gust := func(at float64) float64 { return 0.5 + 0.3*math.Sin(0.9*at+float64(seed)) + 0.2*math.Sin(2.3*at) }
			got := watch(t, motion.Config{}, s, 10, 40*time.Second, func(at float64) {
				g := gust(at)
				for i := range 12 {
					u := float64(i) / 12
					sag := high * (0.8*(1-min(1, 1.3*g))*u + 0.3*u*math.Sin(9*u-at*pace)*(0.3+g))
					for stripe, level := range []float64{45, 205, 60} {
						s.thing(x+u*wide, y+sag+float64(stripe)*high/3, wide/12, high/3, level, 0)
					}
				}
			})
			require.Empty(t, got.began, first(got))
		})
	}
}
