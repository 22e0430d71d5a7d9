package watch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec/planar"
	"vmsbridge/cmd/vmsbridge/replay/footage"
	"vmsbridge/motion"
	"vmsbridge/scripts/harness"
)

// A mask is as good in the size of the picture as in that in which it is worked out, whatever the sizes, and keeps its place.
func TestOutlinesAreScaled(t *testing.T) {
	o := &outlines{width: 40, height: 30, mask: make([]byte, 40*30)}
	for i := range o.mask {
		if x, y := i%40, i/40; x >= 10 && x < 30 && y >= 6 && y < 24 {
			o.mask[i] = 255
		}
	}
	for _, size := range [][2]int{{40, 30}, {80, 60}, {100, 75}, {41, 31}, {20, 15}, {1, 1}} {
		w, h := size[0], size[1]
		dst := make([]byte, w*h)
		o.write(dst, w, h)
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

// Pictures larger than those in which outlines are drawn have masks that end where the thing does, to some pixels.
func TestMasksOfLargePictures(t *testing.T) {
	if harness.Race {
		t.Skip("drawing outlines takes minutes under the race detector: run go test ./cmd/vmsbridge/replay/watch without -race, as scripts/test does")
	}
	const times = 2
	w, err := New(Settings{Rate: 10, Motion: motion.Config{}, Masks: true})
	require.NoError(t, err)
	mask := make([]byte, width*height*times*times)
	for i := range 65 {
		small, large := walk(i, 40, 10), planar.NewPlane(times*width, times*height)
		for k := range large.Pix[:large.Stride*large.Height] {
			large.Pix[k] = small.Pix[k/large.Stride/times*small.Stride+min(width-1, k%large.Stride/times)]
		}
		w.Picture(footage.Picture{Number: i, At: time.Duration(i) * 100 * time.Millisecond, Image: planar.Image{Width: times * width, Height: times * height, FullRange: true, Y: large}})
		w.Mask(mask, times*width, times*height)
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

// Pictures of which there is one in some seconds have masks all the same, and those of a camera that is looked at as usual do not depend on it.
func TestMasksOfRarePictures(t *testing.T) {
	if harness.Race {
		t.Skip("drawing outlines takes minutes under the race detector: run go test ./cmd/vmsbridge/replay/watch without -race, as scripts/test does")
	}
	for _, every := range []time.Duration{time.Second, 5 * time.Second, 20 * time.Second} {
		w, err := New(Settings{Rate: 10, Masks: true})
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
			w.Picture(footage.Picture{Number: i, At: time.Duration(i) * every, Image: planar.Image{Width: width, Height: height, FullRange: true, Y: luma}})
			w.Mask(mask, width, height)
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
