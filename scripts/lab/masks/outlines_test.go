package masks

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec/planar"
	"vmsbridge/motion"
	"vmsbridge/scripts/harness"
)

const width, height = 640, 360

// room is the picture without anything that moves, and stripes the pattern of what does.
var room, stripes = func() (r [width * height]byte, s [120]byte) {
	for i := range r {
		x, y := i%width, i/width
		r[i] = byte(70 + (x/16*31+y/16*17)%60)
	}
	for i := range s {
		s[i] = byte(190 + i%40)
	}
	return r, s
}()

// walk draws picture i of a textured room, through which a bright thing of 60x160 pixels goes from
// picture from on, 200 pixels a second, at the rate.
func walk(i, from int, rate float64) planar.Plane {
	p := planar.NewPlane(width, height)
	copy(p.Pix, room[:])
	x0 := int(float64(i-from)*200/rate) - 60
	left, right := max(0, x0), min(width, x0+60)
	if i < from || left >= right {
		return p
	}
	for y := 120; y < 280; y++ {
		copy(p.Pix[y*width+left:y*width+right], stripes[(left-x0+y)%40:])
	}
	return p
}

// Every picture has a mask of its own.
func TestMasks(t *testing.T) {
	if harness.Race {
		t.Skip("drawing outlines takes minutes under the race detector: run go test ./masks without -race, as " +
			"scripts/test does")
	}
	w, err := NewOutlines(motion.Config{})
	require.NoError(t, err)
	mask := make([]byte, width*height)
	hits := 0
	for i := range 25 * 9 {
		w.Look(planar.Image{Width: width, Height: height, FullRange: true, Y: walk(i, 100, 25)},
			time.Duration(i)*40*time.Millisecond)
		w.Write(mask, width, height)
		count, inside := bytes.Count(mask, []byte{255}), 0
		require.Equal(t, len(mask), count+bytes.Count(mask, []byte{0}))
		if x0 := int(float64(i-100)*8) - 60; x0 >= 0 && x0+60 <= width {
			for y := 120; y < 280; y++ {
				inside += bytes.Count(mask[y*width+x0:][:60], []byte{255})
			}
		}
		if i < 95 {
			require.Zero(t, count, "nothing moves in picture %d", i)
		}
		if i > 125 && i < 165 {
			require.Greater(t, float64(inside), 0.95*60*160, "picture %d", i)
			require.Greater(t, float64(inside), 0.95*float64(count), "picture %d", i)
			hits++
		}
	}
	require.Equal(t, 39, hits)
}

// A mask is as good in the size of the picture as in that in which it is worked out, whatever the
// sizes, and keeps its place.
func TestOutlinesAreScaled(t *testing.T) {
	o := &Outlines{width: 40, height: 30, mask: make([]byte, 40*30)}
	for i := range o.mask {
		if x, y := i%40, i/40; x >= 10 && x < 30 && y >= 6 && y < 24 {
			o.mask[i] = 255
		}
	}
	for _, size := range [][2]int{{40, 30}, {80, 60}, {100, 75}, {41, 31}, {20, 15}, {1, 1}} {
		w, h := size[0], size[1]
		dst := make([]byte, w*h)
		o.Write(dst, w, h)
		wrong := 0
		for i, v := range dst {
			require.True(t, v == 0 || v == 255)
			x, y := (float64(i%w)+0.5)*40/float64(w), (float64(i/w)+0.5)*30/float64(h)
			if (v != 0) != (x > 10 && x < 30 && y > 6 && y < 24) {
				wrong++
			}
		}
		require.LessOrEqual(t, wrong, (w+h)/8, "%v", size)
	}
}

// Pictures larger than those in which outlines are drawn have masks that end where the thing does,
// to some pixels.
func TestMasksOfLargePictures(t *testing.T) {
	if harness.Race {
		t.Skip("drawing outlines takes minutes under the race detector: run go test ./masks without -race, as " +
			"scripts/test does")
	}
	const times = 2
	w, err := NewOutlines(motion.Config{})
	require.NoError(t, err)
	mask := make([]byte, width*height*times*times)
	for i := range 65 {
		small, large := walk(i, 40, 10), planar.NewPlane(times*width, times*height)
		for k := range large.Pix[:large.Stride*large.Height] {
			large.Pix[k] = small.Pix[k/large.Stride/times*small.Stride+min(width-1, k%large.Stride/times)]
		}
		w.Look(planar.Image{Width: times * width, Height: times * height, FullRange: true, Y: large},
			time.Duration(i)*100*time.Millisecond)
		w.Write(mask, times*width, times*height)
		if x0 := (i-40)*20 - 60; i >= 50 && x0+60 <= width {
			wrong := 0
			for k, v := range mask {
				x, y := k%(times*width)/times, k/(times*width)/times
				if (v != 0) != (x >= x0 && x < x0+60 && y >= 120 && y < 280) {
					wrong++
				}
			}
			require.Less(t, wrong, times*times*60*160/10, "picture %d", i)
		}
	}
}

// Pictures of which there is one in some seconds have masks all the same, and those of a camera
// that is looked at as usual do not depend on it.
func TestMasksOfRarePictures(t *testing.T) {
	if harness.Race {
		t.Skip("drawing outlines takes minutes under the race detector: run go test ./masks without -race, as " +
			"scripts/test does")
	}
	for _, every := range []time.Duration{time.Second, 5 * time.Second, 20 * time.Second} {
		w, err := NewOutlines(motion.Config{})
		require.NoError(t, err)
		mask := make([]byte, width*height)
		marked := 0
		for i := range 40 {
			x := 100 + (i*67)%400
			luma := walk(0, 1, 1)
			if i >= 15 {
				for y := 120; y < 280; y++ {
					copy(luma.Pix[y*luma.Stride+x:][:60], stripes[y%40:])
				}
			}
			w.Look(planar.Image{Width: width, Height: height, FullRange: true, Y: luma}, time.Duration(i)*every)
			w.Write(mask, width, height)
			inside, all := 0, 0
			for k, v := range mask {
				if v != 0 {
					all++
					if u := k%width - x; u >= 0 && u < 60 && k/width >= 120 && k/width < 280 {
						inside++
					}
				}
			}
			if i < 15 {
				require.Zero(t, all, "%v: picture %d", every, i)
			} else if inside > 60*160*8/10 {
				marked++
			}
		}
		require.Greater(t, marked, 15, "%v", every)
	}
}
