package scene

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// truthOf draws what a picture shows of those who move, and counts its pixels by what they are.
func truthOf(t testing.TB, s *Scene, i int) (truth []byte, of map[byte]int) {
	w, h := s.Size()
	truth, of = make([]byte, w*h), map[byte]int{}
	for k := range truth {
		truth[k] = 1
	}
	s.Truth(i, truth)
	for _, v := range truth {
		of[v]++
	}
	require.Equal(t, w*h, of[TruthStill]+of[TruthUnknown]+of[TruthMoving], "picture %d", i)
	return truth, of
}

// What is true of the pixels is what is drawn: someone is where a picture differs clearly from the
// empty place, and only there, but for the shadow.
func TestTruthOfPixels(t *testing.T) {
	s, err := New("person", Options{Width: 320, Height: 180, Rate: 5, Seed: 3})
	require.NoError(t, err)
	empty := plane(t, s, 0)
	mask := make([]byte, len(empty))
	for i := 0; i < s.Len(); i += 8 {
		truth, of := truthOf(t, s, i)
		if !s.Moving(i) {
			require.Equal(t, len(truth), of[TruthStill], "picture %d", i)
			continue
		}
		s.Mask(i, mask)
		now := plane(t, s, i)
		there, differ, bright := 0, 0, 0
		for k, v := range truth {
			d := int(now[k]) - int(empty[k])
			switch {
			case v == TruthMoving:
				require.Equal(t, byte(255), mask[k], "picture %d: what is wholly covered is half covered", i)
				there++
				if d > 20 || d < -20 {
					differ++
				}
			case v == TruthStill && d > 26: // a shadow is darker
				require.Zero(t, mask[k], "picture %d", i)
				bright++
			}
		}
		require.Zero(t, bright, "picture %d shows something beside", i)
		if there > 200 {
			require.Greater(t, float64(differ), 0.6*float64(there), "picture %d", i)
			require.Less(t, of[TruthUnknown], there, "picture %d: edges are thin", i)
		}
	}
}

// Who stands after having come counts as before; what has stood there since the beginning is
// unknown until it moves.
func TestTruthOfWhatStands(t *testing.T) {
	o := Options{Width: 320, Height: 180, Rate: 5, Seed: 2, Length: 30 * time.Second}
	s, err := New("parks", o)
	require.NoError(t, err)
	stood := 0
	for i := 0; i < s.Len(); i += 2 {
		if _, of := truthOf(t, s, i); s.Present(i) && !s.Moving(i) {
			require.Greater(t, of[TruthMoving], 200, "picture %d", i)
			stood++
		}
	}
	require.Greater(t, stood, 5*o.Rate)
	s, err = New("departs", o)
	require.NoError(t, err)
	_, of := truthOf(t, s, 10)
	require.Zero(t, of[TruthMoving])
	require.Greater(t, of[TruthUnknown], 200)
	first := int(s.Spans()[0].Start.Seconds()*float64(o.Rate)) + 2
	_, of = truthOf(t, s, first)
	require.Greater(t, of[TruthMoving], 200)
	_, of = truthOf(t, s, s.Len()-1)
	require.Equal(t, 320*180, of[TruthStill], "it left")
}

// Whether the truth is asked for changes no picture.
func TestTruthIsOnlyAsked(t *testing.T) {
	o := Options{Width: 96, Height: 64, Rate: 5, Seed: 4}
	for _, name := range []string{"shake+walker", "focus+walker", "infrared+walker", "clouds+door"} {
		a, err := New(name, o)
		require.NoError(t, err)
		b, err := New(name, o)
		require.NoError(t, err)
		truth := make([]byte, 96*64)
		for i := range 20 {
			b.Truth((i*7)%b.Len(), truth)
			require.Equal(t, plane(t, a, i), plane(t, b, i), "%s, picture %d", name, i)
		}
	}
}

// A camera that shakes sees those who move elsewhere, too.
func TestTruthShakes(t *testing.T) {
	s, err := New("person", Options{Width: 320, Height: 180, Rate: 5, Seed: 3})
	require.NoError(t, err)
	still, _ := truthOf(t, s, 40)
	s.light = append(s.light, func(_ float64, f *frame) { f.dx = 5.0 / 320 })
	shaken, of := truthOf(t, s, 40)
	require.NotZero(t, of[TruthMoving])
	for i, v := range shaken {
		if x := i % 320; x < 315 {
			require.Equal(t, still[i+5], v)
		}
	}
}
