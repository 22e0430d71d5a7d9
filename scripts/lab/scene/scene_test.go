package scene

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
)

func TestNewRefuses(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    Options
		want string
	}{
		{"parade", Options{Width: 640, Height: 360, Rate: 10}, "no such scene"},
		{"rain+parade", Options{Width: 640, Height: 360, Rate: 10}, `no such scene as "parade"`},
		{"", Options{Width: 640, Height: 360, Rate: 10}, "no such scene"},
		{"person", Options{Width: 641, Height: 360, Rate: 10}, "must be even"},
		{"person", Options{Width: 32, Height: 32, Rate: 10}, "at least 64x48"},
		{"person", Options{Width: 100000, Height: 100000, Rate: 10}, "40 megapixels"},
		{"person", Options{Width: 640, Height: 360}, "1 to 120"},
		{"person", Options{Width: 640, Height: 360, Rate: 10, Length: 1500 * time.Millisecond}, "whole seconds"},
	} {
		_, err := New(tc.name, tc.o)
		require.ErrorContains(t, err, tc.want)
	}
}

// plane draws one picture's luma.
func plane(t testing.TB, s *Scene, i int) []byte {
	w, h := s.Size()
	dst := make([]byte, w*h)
	s.Luma(i, dst)
	return dst
}

// differ is the share of the pixels that differ by more than d levels.
func differ(a, b []byte, d int) float64 {
	n := 0
	for i := range a {
		if v := int(a[i]) - int(b[i]); v > d || v < -d {
			n++
		}
	}
	return float64(n) / float64(len(a))
}

// The truth is exact: pictures outside of the spans differ from the empty room by noise only, those
// inside by a figure.
func TestTruthIsDrawn(t *testing.T) {
	for _, size := range [][2]int{{640, 360}, {352, 288}, {176, 144}} {
		if harness.Race && size[0] > 200 {
			continue
		}
		s, err := New("person", Options{Width: size[0], Height: size[1], Rate: 10, Seed: 3})
		require.NoError(t, err)
		require.Equal(t, 300, s.Len())
		require.Equal(t, []Span{{4 * time.Second, 12 * time.Second}, {18 * time.Second, 26 * time.Second}}, s.Spans())
		empty := plane(t, s, 0)
		for i := range s.Len() {
			changed := differ(plane(t, s, i), empty, 26)
			if s.Moving(i) {
				require.Greater(t, changed, 0.0003, "picture %d in %v must show someone", i, size)
				continue
			}
			require.Zero(t, changed, "picture %d in %v must be empty", i, size)
		}
	}
}

// Every part draws, alone and with someone walking, in all places; the same again with the same
// seed, and nothing overruns.
func TestEveryPart(t *testing.T) {
	for _, p := range parts() {
		for _, name := range []string{p.name, p.name + "+walker"} {
			t.Run(name, func(t *testing.T) {
				o := Options{Width: 96, Height: 64, Rate: 2, Seed: 11}
				a, err := New(name, o)
				require.NoError(t, err)
				b, err := New(name, o)
				require.NoError(t, err)
				require.Equal(t, a.Spans(), b.Spans())
				for i := range a.Len() {
					if harness.Race && i > 20 {
						break
					}
					require.True(t, bytes.Equal(plane(t, a, i), plane(t, b, i)), "picture %d", i)
				}
				if strings.HasSuffix(name, "walker") {
					require.NotEmpty(t, a.Spans())
				}
				require.NotEmpty(t, p.says)
			})
		}
	}
}

// Someone who walks is seen where the truth says: in what the boxes enclose the picture differs
// from that of before.
func TestBoxesEncloseWhatMoves(t *testing.T) {
	for seed := range uint64(12) {
		if harness.Race && seed > 1 {
			break
		}
		s, err := New("walker", Options{Width: 320, Height: 180, Rate: 10, Seed: seed})
		require.NoError(t, err)
		mask := make([]byte, 320*180)
		seen := 0
		for i := range s.Len() {
			s.Mask(i, mask)
			n := 0
			for k, v := range mask {
				if v == 0 {
					continue
				}
				n++
				x, y := (float64(k%320)+0.5)/320, (float64(k/320)+0.5)/180
				in := false
				for _, b := range s.Boxes(i) {
					in = in || x > b.Left && x < b.Right && y > b.Top && y < b.Bottom
				}
				require.True(t, in, "seed %d picture %d", seed, i)
			}
			require.Equal(t, n > 0, len(s.Boxes(i)) > 0, "seed %d picture %d", seed, i)
			seen += len(s.Boxes(i))
		}
		require.Greater(t, seen, 5, "seed %d", seed)
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

func TestLight(t *testing.T) {
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
		require.Equal(t, dark, mean(a)-mean(b) > 30, "%s: %v %v", name, mean(a), mean(b))
	}
}

// Each way to tamper shows in the picture when the truth says so.
func TestTampering(t *testing.T) {
	for name, reason := range map[string]string{"covered": "covered", "sprayed": "covered", "blinded": "blinded",
		"defocused": "defocused", "turned": "turned", "frozen": "frozen"} {
		for seed := range uint64(4) {
			if harness.Race && seed > 0 {
				break
			}
			s, err := New(name, Options{Width: 320, Height: 180, Rate: 10, Seed: seed, Length: 40 * time.Second})
			require.NoError(t, err)
			require.Len(t, s.Tampering(), 1)
			tm := s.Tampering()[0]
			require.Equal(t, reason, tm.Reason)
			require.GreaterOrEqual(t, tm.End-tm.Start, 10*time.Second, "%s seed %d", name, seed)
			before, after := plane(t, s, 30), plane(t, s, int(tm.Start.Seconds()*10)+40)
			if name == "frozen" {
				s.Luma(int(tm.Start.Seconds()*10)+5, before)
				s.Luma(int(tm.Start.Seconds()*10)+6, after)
				require.True(t, bytes.Equal(before, after))
				continue
			}
			require.Greater(t, differ(before, after, 6), 0.2, "%s seed %d", name, seed)
		}
	}
}

func TestHelpNamesAll(t *testing.T) {
	for _, n := range Names() {
		require.Contains(t, Help(), n+" ", "%s", n)
	}
}

// go test -run '^$' -bench Luma ./scene
func BenchmarkLuma(b *testing.B) {
	for _, name := range []string{"quiet", "walker", "clouds+walker", "rain+walker", "tree+walker", "night+walker",
		"keyframes+walker", "insects"} {
		b.Run(fmt.Sprintf("scene=%s/size=320x180", name), func(b *testing.B) {
			s, err := New(name, Options{Width: 320, Height: 180, Rate: 10, Seed: 1})
			require.NoError(b, err)
			dst := make([]byte, 320*180)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				s.Luma(i, dst)
				i = (i + 1) % s.Len()
			}
		})
	}
}

// Who walks up to the camera hides much of the view, and a crowd is several people at once.
func TestPeopleComeClose(t *testing.T) {
	for seed := range uint64(6) {
		s, err := New("nearing", Options{Width: 320, Height: 180, Rate: 10, Seed: seed, Length: time.Minute})
		require.NoError(t, err)
		require.Greater(t, s.Share(), 0.12, "seed %d", seed)
		s, err = New("crowd", Options{Width: 320, Height: 180, Rate: 10, Seed: seed, Length: time.Minute})
		require.NoError(t, err)
		most := 0
		for i := range s.Len() {
			most = max(most, len(s.Boxes(i)))
		}
		require.GreaterOrEqual(t, most, 2, "seed %d", seed)
	}
}
