package scene

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNewRefuses(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    Options
		want string
	}{
		{"parade", Options{640, 360, 10, 0}, "no such scene"},
		{"person", Options{641, 360, 10, 0}, "must be even"},
		{"person", Options{32, 32, 10, 0}, "at least 64x48"},
		{"person", Options{100000, 100000, 10, 0}, "40 megapixels"},
		{"person", Options{640, 360, 0, 0}, "1 to 120"},
	} {
		_, err := New(tc.name, tc.o)
		require.ErrorContains(t, err, tc.want)
	}
}

// The truth is exact: pictures outside of the spans differ from the empty room by noise only, those inside by a figure.
func TestTruthIsDrawn(t *testing.T) {
	for _, size := range [][2]int{{640, 360}, {352, 288}, {176, 144}} {
		s, err := New("person", Options{Width: size[0], Height: size[1], Rate: 10, Seed: 3})
		require.NoError(t, err)
		require.Equal(t, 300, s.Len())
		require.Equal(t, []Span{{4 * time.Second, 12 * time.Second}, {18 * time.Second, 26 * time.Second}}, s.Spans())
		var p Picture
		for i := range s.Len() {
			s.Draw(i, &p)
			changed := 0
			for j, l := range p.Y {
				if d := int(l) - int(s.still.Y[j]); d > 12 || d < -12 {
					changed++
				}
			}
			share := float64(changed) / float64(len(p.Y))
			if s.Moving(i) {
				require.Greater(t, share, 0.0004, "picture %d in %v must show someone", i, size)
				continue
			}
			require.Zero(t, changed, "picture %d in %v must be empty", i, size)
		}
	}
}

// In the middle of a span the figure is large and moves on from picture to picture.
func TestPersonIsWellVisible(t *testing.T) {
	s, err := New("person", Options{Width: 640, Height: 360, Rate: 10, Seed: 3})
	require.NoError(t, err)
	var a, b Picture
	for _, i := range []int{60, 80, 100, 200, 240} {
		s.Draw(i, &a)
		s.Draw(i+1, &b)
		moved := 0
		for j := range a.Y {
			if d := int(a.Y[j]) - int(b.Y[j]); d > 20 || d < -20 {
				moved++
			}
		}
		require.Greater(t, float64(moved)/float64(len(a.Y)), 0.004, "picture %d", i)
	}
}

func TestSeedDecides(t *testing.T) {
	draw := func(seed uint64) []byte {
		s, err := New("person", Options{Width: 128, Height: 96, Rate: 5, Seed: seed})
		require.NoError(t, err)
		var p Picture
		s.Draw(40, &p)
		return p.Y
	}
	require.True(t, bytes.Equal(draw(1), draw(1)))
	require.False(t, bytes.Equal(draw(1), draw(2)))
}

func TestOtherScenes(t *testing.T) {
	mean := func(p Picture) float64 {
		sum := 0
		for _, l := range p.Y {
			sum += int(l)
		}
		return float64(sum) / float64(len(p.Y))
	}
	for name, dark := range map[string]bool{"quiet": false, "light-switch": true} {
		s, err := New(name, Options{Width: 320, Height: 180, Rate: 10, Seed: 1})
		require.NoError(t, err)
		require.Empty(t, s.Spans())
		var a, b Picture
		s.Draw(50, &a)
		s.Draw(150, &b)
		require.Equal(t, dark, mean(a)-mean(b) > 30, name)
	}
}

func BenchmarkDraw(b *testing.B) { // go test -bench Draw ./cmd/camsim/scene
	s, err := New("person", Options{Width: 640, Height: 360, Rate: 10, Seed: 1})
	require.NoError(b, err)
	var p Picture
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Draw(i, &p)
	}
}
