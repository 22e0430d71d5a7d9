package contour

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
)

const (
	wide, high = 160, 120
	rate       = 10
)

var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// view is a textured place with noise, and what a test puts there.
type view struct {
	place, luma []byte
	seeds, mask []byte
	r           *rand.Rand
	c           *Contour
	picture     int
}

func newView(seed uint64) *view {
	r := rand.New(rand.NewPCG(seed, 1))
	v := &view{place: make([]byte, wide*high), luma: make([]byte, wide*high), seeds: make([]byte, wide*high),
		mask: make([]byte, wide*high), r: r, c: New()}
	for i := range v.place {
		v.place[i] = byte(95 + (i%wide/7*13+i/wide/5*29)%50 + r.IntN(6))
	}
	return v
}

// board makes the place smooth, but for a brighter board on it.
func (v *view) board() {
	for i := range v.place {
		v.place[i] = 90
		if x, y := i%wide, i/wide; x >= 50 && x < 90 && y >= 40 && y < 80 {
			v.place[i] = 110
		}
	}
}

// empty takes n pictures of the place alone.
func (v *view) empty(n int) {
	for range n {
		v.next(1, nil, nil)
	}
}

// next takes a picture: draw changes the place, mark is what the detector says.
func (v *view) next(gain float64, draw, mark func(x, y int) (level float64, there bool)) {
	for i := range v.luma {
		x, y := i%wide, i/wide
		level := float64(v.place[i])
		if draw != nil {
			if l, there := draw(x, y); there {
				level = l
			}
		}
		v.luma[i] = byte(max(0, min(255, level*gain+1.5*v.r.NormFloat64())))
		v.seeds[i] = 0
		if mark != nil {
			if _, there := mark(x, y); there {
				v.seeds[i] = 255
			}
		}
	}
	v.c.Trace(Picture{Luma: v.luma, Width: wide, Height: high, Stride: wide,
		Time: epoch.Add(time.Duration(v.picture) * time.Second / rate)}, v.seeds, v.mask)
	v.picture++
}

// box is something of one brightness.
func box(left, top, right, bottom int, level float64) func(x, y int) (float64, bool) {
	return func(x, y int) (float64, bool) {
		return level, x >= left && x < right && y >= top && y < bottom
	}
}

// score compares the mask with a shape.
func (v *view) score(shape func(x, y int) (float64, bool)) (recall, precision float64) {
	hits, there, marked := 0, 0, 0
	for i, m := range v.mask {
		_, in := shape(i%wide, i/wide)
		if in {
			there++
		}
		if m != 0 {
			marked++
		}
		if in && m != 0 {
			hits++
		}
	}
	return float64(hits) / float64(max(1, there)), float64(hits) / float64(max(1, marked))
}

func (v *view) marked() int {
	n := 0
	for _, m := range v.mask {
		n += int(m) / 255
	}
	return n
}

// The detector's mask is rough, too wide on one side and too narrow on the other: the outline is
// exact.
func TestOutlineIsExact(t *testing.T) {
	v := newView(1)
	for range 20 {
		v.next(1, nil, nil)
		require.Zero(t, v.marked())
	}
	for i := range 30 {
		thing := box(10+2*i, 30, 34+2*i, 90, 40)
		v.next(1, thing, box(8+2*i, 32, 32+2*i, 93, 0))
		recall, precision := v.score(thing)
		require.Greater(t, recall, 0.95, "picture %d", i)
		require.Greater(t, precision, 0.95, "picture %d", i)
	}
	v.empty(5)
	require.Zero(t, v.marked(), "it left")
}

// What the detector does not mark is not marked, however much it differs: leaves, snow, a lamp.
func TestNothingWithoutTheDetector(t *testing.T) {
	v := newView(2)
	for i := range 20 {
		v.next(1, box(20+i, 20, 50+i, 60, 220), nil)
		require.Zero(t, v.marked(), "picture %d", i)
	}
}

// What stops stays marked when the detector has forgotten it, and is gone when it leaves.
func TestWhatStopsStays(t *testing.T) {
	stands := box(37, 40, 67, 80, 200)
	long := 300
	if harness.Race {
		long = 30
	}
	v := newView(3)
	v.empty(20)
	for i := range 20 {
		thing := box(3*i-20, 40, 3*i+10, 80, 200)
		v.next(1, thing, thing)
	}
	for i := range long {
		v.next(1+0.05*float64(i)/300, stands, nil)
	}
	recall, precision := v.score(stands)
	require.Greater(t, recall, 0.95, "after half a minute, in a light that changed")
	require.Greater(t, precision, 0.97)
	for range 3 {
		v.next(1+0.05*float64(long)/300, nil, nil)
	}
	require.Zero(t, v.marked(), "it left")
}

// What was there first and leaves is marked itself; its place is not, for longer than a moment.
func TestNoGhost(t *testing.T) {
	v := newView(4)
	for range 20 {
		v.next(1, box(40, 40, 70, 80, 200), nil)
	}
	for i := range 40 {
		thing := box(40+2*i, 40, 70+2*i, 80, 200)
		v.next(1, thing, func(x, y int) (float64, bool) {
			_, there := thing(x, y)
			_, left := box(40, 40, 70, 80, 0)(x, y)
			return 0, there || left && i < 20
		})
		if i > 30 {
			recall, precision := v.score(thing)
			require.Greater(t, recall, 0.95, "picture %d", i)
			require.Greater(t, precision, 0.95, "picture %d", i)
		}
	}
}

// A hard shadow beside a thing, which the detector takes for a part of it, is not marked where the
// ground shows through.
func TestShadowIsNotMarked(t *testing.T) {
	v := newView(5)
	v.empty(20)
	for i := range 20 {
		thing, shadow := box(20+2*i, 30, 40+2*i, 90, 40), box(40+2*i, 80, 75+2*i, 90, 0)
		both := func(x, y int) (float64, bool) {
			if level, in := thing(x, y); in {
				return level, true
			}
			_, in := shadow(x, y)
			return 0.6 * float64(v.place[y*wide+x]), in
		}
		v.next(1, both, both)
		recall, precision := v.score(thing)
		require.Greater(t, recall, 0.93, "picture %d", i)
		require.Greater(t, precision, 0.9, "picture %d", i)
	}
}

// A change of the light, marked by mistake, is forgotten.
func TestLightIsForgotten(t *testing.T) {
	v := newView(6)
	v.empty(20)
	for i := range 40 {
		lit := func(x, y int) (float64, bool) { return 1.3 * float64(v.place[y*wide+x]), x > 60 }
		var mark func(x, y int) (float64, bool)
		if i < 5 {
			mark = lit
		}
		v.next(1, lit, mark)
	}
	require.Zero(t, v.marked())
}

// A new size begins anew, a small one is no problem, and the mask is black or white.
func TestSizes(t *testing.T) {
	c := New()
	r := rand.New(rand.NewPCG(1, 1))
	for i, size := range [][2]int{{40, 30}, {41, 31}, {1, 1}, {3, 2}, {2, 50}, {50, 1}, {7, 7}, {320, 4}} {
		w, h := size[0], size[1]
		stride := w + 3
		for k := range 4 {
			luma, seeds, mask := make([]byte, stride*h), make([]byte, w*h), make([]byte, w*h)
			for j := range luma {
				luma[j] = byte(r.IntN(256))
			}
			for j := range seeds {
				seeds[j] = byte(r.IntN(2)) * 255
				mask[j] = 7
			}
			require.NotPanics(t, func() {
				c.Trace(Picture{Luma: luma, Width: w, Height: h, Stride: stride,
					Time: epoch.Add(time.Duration(10*i+k) * time.Second), ShiftX: 2.3 * float64(k), ShiftY: -1.2},
					seeds, mask)
			}, "%v", size)
			for _, m := range mask {
				require.True(t, m == 0 || m == 255)
			}
		}
	}
}

// A camera that shakes sees the same place elsewhere: with the shift nothing differs.
func TestShake(t *testing.T) {
	const dx, dy = 4, 3
	marked := func(shiftX, shiftY float64) int {
		v := newView(7)
		for i := range v.place {
			v.place[i] = byte(60 + (i%wide/24*7+i/wide/20*11)%8*20)
		}
		v.empty(20)
		for i := range v.luma {
			v.luma[i] = v.place[max(0, i/wide-dy)*wide+max(0, i%wide-dx)] // what was at x is at x+dx
			v.seeds[i] = 255
		}
		v.c.Trace(Picture{Luma: v.luma, Width: wide, Height: high, Stride: wide,
			Time: epoch.Add(time.Duration(v.picture) * time.Second / rate), ShiftX: shiftX, ShiftY: shiftY}, v.seeds,
			v.mask)
		return v.marked()
	}
	without := marked(0, 0)
	require.Greater(t, without, 2000)
	require.Less(t, marked(dx, dy), without/20)
}

// go test -run '^$' -bench Trace ./contour
func BenchmarkTrace(b *testing.B) {
	v := newView(1)
	thing := box(30, 30, 60, 90, 40)
	v.empty(20)
	v.next(1, thing, thing)
	b.ReportAllocs()
	for b.Loop() {
		v.picture++
		v.c.Trace(Picture{Luma: v.luma, Width: wide, Height: high, Stride: wide,
			Time: epoch.Add(time.Duration(v.picture) * time.Second / rate)}, v.seeds, v.mask)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(wide*high), "ns/pixel")
}
