package motion_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
	"vmsbridge/scripts/harness"
)

// beam throws the light of a headlight on what is there: a soft spot around u, v with a sharp
// cut-off above, which doubles the light in its middle; through that many bars, if there are any.
func (s *scene) beam(u, v, wide, high, strong, bars float64) {
	for y := range s.height {
		for x := range s.width {
			a := ((float64(x)+0.5)/float64(s.width) - u) / wide
			b := ((float64(y)+0.5)/float64(s.height) - v) / high
			if b < -0.35 {
				b = -0.35 + (b+0.35)*4
			}
			if d := a*a + b*b; d < 1 {
				through := 1.0
				if bars > 0 {
					through = 0.25 + 0.75/(1+math.Exp(-6*math.Sin(bars*math.Pi*a)))
				}
				s.picture[y*s.width+x] *= 1 + strong*through*(1-d)*(1-d)
			}
		}
	}
}

// TestBeamsSweep: headlights sweep over the place again and again, large and small, strong and
// faint, and nobody is there. Somebody in a bright coat who walks there between two of them is
// found in time: the beam before left no ghost.
func TestBeamsSweep(t *testing.T) {
	for _, wide := range []float64{0.12, 0.25} {
		for _, strong := range []float64{0.5, 1.2} {
			if harness.Race && (wide < 0.2 || strong < 1) {
				continue
			}
			t.Run(fmt.Sprintf("%v wide, %v strong", wide, strong), func(t *testing.T) {
				t.Parallel()
				s := newScene(320, 180, 11, 2)
				s.dim(0.4)
				got := watch(t, motion.Config{}, s, 10, 40*time.Second, func(at float64) {
					if at >= 27.6 {
						s.thing(-0.08+0.5*(at-27.6), 0.35, 0.08, 0.45, 110, 12)
					}
					if u := math.Mod(at, 6); at > 5 && u < 3 {
						s.beam(-0.4+0.6*u, 0.45+0.1*u, wide, wide*1.2, strong, 0)
					}
				})
				require.Len(t, got.began, 1, first(got))
				require.InDelta(t, 27.65, offset(got.began[0].Start), 0.21)
				require.InDelta(t, 29.8, offset(got.ended[0].Last), 0.4)
			})
		}
	}
}

// TestBeamsThroughBars: headlights that fall through a fence or a window's bars draw sharp edges on
// what is there, one beside the other; that is nobody.
func TestBeamsThroughBars(t *testing.T) {
	for _, bars := range []float64{3, 5} {
		for _, high := range []float64{0.14, 0.3} {
			if harness.Race && bars > 3 {
				continue
			}
			t.Run(fmt.Sprintf("%v bars, %v high", bars, high), func(t *testing.T) {
				t.Parallel()
				s := newScene(320, 180, 13, 2)
				s.dim(0.4)
				got := watch(t, motion.Config{}, s, 10, 40*time.Second, func(at float64) {
					if u := math.Mod(at, 6); at > 5 && u < 3 {
						s.beam(1.4-0.6*u, 0.3+0.1*u, 0.25, high, 1, bars)
					}
				})
				require.Empty(t, got.began, first(got))
			})
		}
	}
}

// dim makes the empty place darker for good.
func (s *scene) dim(gain float64) {
	for i := range s.floor {
		s.floor[i] *= gain
	}
}
