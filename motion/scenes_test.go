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

// walker draws a person whose left edge is at x.
func walker(s *scene, x float64) { s.thing(x, 0.35, 0.08, 0.5, 50, 25) }

// TestNothingMoves runs ten minutes of each nuisance alone: there must be no event.
func TestNothingMoves(t *testing.T) {
	const minutes = 10 * time.Minute
	pulse := func(s *scene, at, period, size float64) {
		// A keyframe renders the same scene a little differently, block by block; until the next
		// one the difference fades.
		n := uint64(at/period) * 7919
		fade := 1 - math.Mod(at, period)/period
		for by := 0; by < s.height; by += 8 {
			for bx := 0; bx < s.width; bx += 8 {
				n = n*6364136223846793005 + 1442695040888963407
				v := size * fade * (float64(n>>40)/float64(1<<24)*2 - 1)
				for y := by; y < min(by+8, s.height); y++ {
					for x := bx; x < min(bx+8, s.width); x++ {
						s.picture[y*s.width+x] += v
					}
				}
			}
		}
	}
	clock := func(s *scene, count int, x, y float64) {
		for digit := range 6 {
			n := count
			for range digit {
				n /= 10
			}
			left := x + float64(5-digit)*0.022
			s.thing(left, y, 0.018, 0.06, 20, 0)
			for bar := range 7 {
				if [10]int{0x77, 0x24, 0x5d, 0x6d, 0x2e, 0x6b, 0x7b, 0x25, 0x7f, 0x6f}[n%10]>>bar&1 == 1 {
					s.thing(left+0.002+float64(bar%3)*0.006, y+0.004+float64(bar/3)*0.02, 0.005, 0.014, 235, 0)
				}
			}
		}
	}
	for _, c := range []struct {
		name  string
		rate  float64
		noise float64
		draw  func(s *scene, at float64)
	}{
		{"still", 10, 2, func(*scene, float64) {}},
		{"still at 5 a second", 5, 2, func(*scene, float64) {}},
		{"night noise", 10, 9, func(s *scene, _ float64) { s.light(0.35, 1) }},
		{"light switch", 10, 2, func(s *scene, at float64) {
			if math.Mod(at, 23) > 11.5 {
				s.light(0.4, 1)
			}
		}},
		{"light switch with another curve", 5, 2, func(s *scene, at float64) {
			if math.Mod(at, 23) > 11.5 {
				s.light(1.5, 0.8)
			}
		}},
		{"slow drift", 10, 2, func(s *scene, at float64) { s.light(1+0.4*math.Sin(at/12), 1) }},
		{"auto-exposure", 10, 2, func(s *scene, at float64) {
			ramp := min(1, max(0, math.Mod(at, 20)-10)/0.8)
			s.light(1+0.3*ramp, 1)
		}},
		{"keyframes every second", 10, 1.5, func(s *scene, at float64) { pulse(s, at, 1, 7) }},
		{"keyframes every five seconds", 10, 1.5, func(s *scene, at float64) { pulse(s, at, 5, 9) }},
		{"keyframes at 30 a second", 30, 1.5, func(s *scene, at float64) { pulse(s, at, 2, 9) }},
		{"burnt-in clock", 10, 2, func(s *scene, at float64) { clock(s, int(at), 0.02, 0.02) }},
		{"burnt-in clock with tenths", 10, 2, func(s *scene, at float64) { clock(s, int(at*10+0.01), 0.6, 0.92) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := minutes
			if testing.Short() || c.rate > 10 {
				d = 2 * time.Minute
			}
			if harness.Race {
				d = 25 * time.Second
			}
			s := newScene(160, 90, 5, c.noise)
			got := watch(t, motion.Config{}, s, c.rate, d, func(at float64) { c.draw(s, at) })
			require.Empty(t, got.began, "events while nothing moves; the first began at %v", first(got))
		})
	}
}

func frac(v float64) float64 { return v - math.Floor(v) }

func first(s seen) string {
	if len(s.began) == 0 {
		return "never"
	}
	return fmt.Sprintf("%.2f s, boxes %.2f", offset(s.began[0].Start), s.began[0].Boxes)
}

// TestPersonIsFound lets a person walk through at all rates and picture shapes. The start is right
// to a picture.
func TestPersonIsFound(t *testing.T) {
	for _, size := range [][2]int{{320, 180}, {264, 216}, {277, 207}, {180, 320}, {480, 120}, {96, 72}} {
		for _, rate := range []float64{5, 10, 15, 30} {
			if harness.Race && rate != 10 {
				continue
			}
			t.Run(fmt.Sprintf("%dx%d at %v", size[0], size[1], rate), func(t *testing.T) {
				t.Parallel()
				s := newScene(size[0], size[1], 9, 2)
				enters, speed := 4.0, 0.2 // of the width in a second
				leaves := enters + 1.08/speed
				got := watch(t, motion.Config{}, s, rate, 14*time.Second, func(at float64) {
					if at >= enters {
						walker(s, -0.08+speed*(at-enters))
					}
				})
				require.Len(t, got.began, 1, first(got))
				require.Len(t, got.ended, 1)
				// The picture in which the first centimetre shows is not yet one in which anybody
				// would see it.
				require.InDelta(t, enters+0.05, offset(got.began[0].Start), 1.5/rate+0.06)
				require.LessOrEqual(t, offset(got.firstBegan)-offset(got.began[0].Start), 0.9)
				require.InDelta(t, leaves, offset(got.ended[0].Last), 0.35+1/rate)
				require.Equal(t, got.began[0].Start, got.ended[0].Start)
				require.Equal(t, got.began[0].Object, got.ended[0].Object)
				require.NotEmpty(t, got.began[0].Boxes)
				require.NotEmpty(t, got.ended[0].Boxes)
				best := offset(got.ended[0].BestTime)
				require.True(t, best > enters && best < leaves)
				at := got.ended[0].Objects[0]
				require.Equal(t, at.Time, got.ended[0].BestTime, "the box is of the best picture")
				require.True(t, at.Box.Left > 0 && at.Box.Right < 1, "all of the walker is in sight: %v", at.Box)
			})
		}
	}
}

// TestHardThings are the ones that simple thresholds miss.
func TestHardThings(t *testing.T) {
	for _, c := range []struct {
		name        string
		noise       float64
		enters      float64
		leaves      float64
		late, early float64 // how far the start may be off, seconds
		draw        func(s *scene, at float64)
	}{
		{"slow crawler", 2, 5, 45, 3, 0.2, func(s *scene, at float64) {
			if at >= 5 && at < 45 { // a fortieth of the picture's width in a second
				s.thing(-0.06+0.027*(at-5), 0.8, 0.06, 0.08, 40, 15)
			}
		}},
		{"small far object", 2, 5, 15, 0.6, 0.2, func(s *scene, at float64) {
			if at >= 5 && at < 15 { // 0.1 % of the picture
				s.thing(0.3+0.03*(at-5), 0.48, 0.024, 0.042, 55, 0)
			}
		}},
		{"fast car", 2, 5, 5.3, 0.11, 0.11, func(s *scene, at float64) {
			if at >= 4.999 && at < 5.299 { // three pictures
				s.thing(-0.1+0.35*math.Round((at-5)*10), 0.5, 0.3, 0.25, 40, 20)
			}
		}},
		{"low contrast", 1.5, 5, 9, 0.5, 0.2, func(s *scene, at float64) {
			if at >= 5 && at < 9 { // eight grey levels darker than the wall behind, without a pattern
				x := 0.27 + 0.08*(at-5)
				s.thing(x, 0.08, 0.07, 0.4, 130+30*(x+0.035)-8, 0)
			}
		}},
		{"at night", 9, 5, 10.4, 0.5, 0.2, func(s *scene, at float64) {
			if at >= 5 {
				walker(s, -0.08+0.2*(at-5))
			}
			s.light(0.5, 1)
		}},
		{"a hand at work", 2, 2.5, 9, 0.3, 0.2, func(s *scene, at float64) {
			if at >= 2.5 && at < 9 { // from the side, to another place each time
				n := math.Floor(4 * (at - 2.5))
				x, y := 0.45+0.3*frac(n*0.618), 0.3+0.3*frac(n*0.755)
				s.thing(x, y, 1-x, 0.16, 70, 25)
			}
		}},
		{"as the light goes on", 2, 5, 10.4, 0.5, 0.2, func(s *scene, at float64) {
			if at >= 5 {
				walker(s, -0.08+0.2*(at-5))
			}
			if at < 5.2 {
				s.light(0.35, 1)
			}
		}},
		{"as the light goes on, in the middle of the picture", 2, 5, 9, 0.3, 0.2, func(s *scene, at float64) {
			switch {
			case at >= 5 && at < 9:
				walker(s, 0.3+0.2*(at-5)) // through a door
			case at < 5:
				s.light(0.3, 1)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(320, 180, 3, c.noise)
			got := watch(t, motion.Config{}, s, 10, time.Duration(c.leaves+8)*time.Second,
				func(at float64) { c.draw(s, at) })
			require.Len(t, got.began, 1, first(got))
			start := offset(got.began[0].Start)
			require.True(t, start >= c.enters-c.early && start <= c.enters+c.late,
				"it began at %.2f s, the truth is %.2f s", start, c.enters)
			last := offset(got.ended[0].Last)
			require.InDelta(t, c.leaves, last, 1.1, "it ended at %.2f s", last)
		})
	}
}

// TestStandingAndLeaving: who comes in, stands and stirs, and leaves is two events, and leaves no
// ghost.
func TestStandingAndLeaving(t *testing.T) {
	for _, stands := range []float64{6, 30, 150} {
		if harness.Race && stands > 6 {
			continue
		}
		t.Run(fmt.Sprintf("%v s", stands), func(t *testing.T) {
			t.Parallel()
			s := newScene(320, 180, 4, 2)
			came, went := 6.0, 6+2.5+stands
			draw := func(at float64) {
				switch {
				case at < came:
				case at < came+2.5:
					walker(s, -0.08+0.2*(at-came))
				case at < went:
					walker(s, 0.42)
					// An arm that moves, and the head that turns.
					s.thing(0.42+0.06, 0.5+0.02*math.Sin(3*at), 0.02, 0.1, 120, 0)
					s.thing(0.44+0.004*math.Sin(1.7*at), 0.36, 0.04, 0.08, 150, 20)
				case at < went+3.3:
					walker(s, 0.42+0.2*(at-went))
				}
			}
			got := watch(t, motion.Config{}, s, 10, time.Duration((went+40)*float64(time.Second)), draw)
			require.Len(t, got.began, 2, "%v", got.began)
			require.InDelta(t, came, offset(got.began[0].Start), 0.21)
			require.InDelta(t, came+2.5, offset(got.ended[0].Last), 0.5)
			require.InDelta(t, went, offset(got.began[1].Start), 0.3)
			require.InDelta(t, went+2.9, offset(got.ended[1].Last), 0.5)
		})
	}
}

// TestStartWithSomebodyThere: who walks while the detector learns leaves neither a ghost nor a
// blind trail.
func TestStartWithSomebodyThere(t *testing.T) {
	s := newScene(320, 180, 6, 2)
	got := watch(t, motion.Config{}, s, 10, 40*time.Second, func(at float64) {
		if at < 3 {
			walker(s, 0.3+0.2*at)
		}
		if at >= 20 {
			walker(s, -0.08+0.2*(at-20))
		}
	})
	require.Len(t, got.began, 2, "%v", got.began)
	require.Less(t, offset(got.began[0].Start), 2.0)
	require.Less(t, offset(got.ended[0].Last), 4.5)
	require.InDelta(t, 20.05, offset(got.began[1].Start), 0.16)
	require.InDelta(t, 25.4, offset(got.ended[1].Last), 0.5)
}

// TestSmallAndSlow: who is a few cells large, hardly moves from picture to picture, and differs by
// little more than the noise of the night is found.
func TestSmallAndSlow(t *testing.T) {
	for name, c := range map[string]struct{ width, height, speed float64 }{
		"comes along a fence": {0.03, 0.11, 0.018},
		"comes nearer":        {0.025, 0.07, 0.012},
	} {
		s := newScene(320, 180, 5, 2)
		got := watch(t, motion.Config{}, s, 10, 24*time.Second, func(at float64) {
			if at >= 8 && at < 18 {
				s.thing(0.5+c.speed*(at-8), 0.3, c.width, c.height, 112, 8)
			}
		})
		require.NotEmpty(t, got.began, name)
		require.InDelta(t, 8, offset(got.began[0].Start), 1.5, name)
		require.GreaterOrEqual(t, offset(got.ended[len(got.ended)-1].Last), 15.0, name)
	}
}

// TestSensitivityKeepsItsWord: what is found is found at every higher sensitivity, too, and each of
// some finds what the one below does not.
func TestSensitivityKeepsItsWord(t *testing.T) {
	found := map[float64]int{}
	for _, size := range []float64{0.025, 0.07, 0.2} { // of the picture's height
		for _, level := range []float64{112, 122, 134, 150} { // on about 130
			before := false
			for _, sensitivity := range []float64{0.1, 0.3, 0.5, 0.9} {
				s := newScene(320, 180, 9, 1)
				got := watch(t, motion.Config{Sensitivity: sensitivity}, s, 10, 14*time.Second, func(at float64) {
					if at >= 6 && at < 12 {
						s.thing(0.3+0.05*(at-6), 0.2, size/2, size, level, 4)
					}
				})
				is := len(got.began) > 0
				require.True(t, is || !before, "size %v, level %v: found before, not at %v", size, level, sensitivity)
				if before = is; is {
					found[sensitivity]++
				}
			}
		}
	}
	require.Greater(t, found[0.9], found[0.5])
	require.Greater(t, found[0.5], found[0.3])
	require.Greater(t, found[0.3], found[0.1])
}
