package motion_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
)

// overlap compares a mask with the truth, a box in fractions: the share of the box that is marked,
// and of the marked that is in the box.
func overlap(mask []byte, width, height int, truth motion.Box) (recall, precision float64) {
	inside, marked, both := 0, 0, 0
	for i, v := range mask {
		x, y := (float64(i%width)+0.5)/float64(width), (float64(i/width)+0.5)/float64(height)
		in := x >= truth.Left && x < truth.Right && y >= truth.Top && y < truth.Bottom
		if in {
			inside++
		}
		if v != 0 {
			marked++
		}
		if in && v != 0 {
			both++
		}
	}
	return float64(both) / float64(max(1, inside)), float64(both) / float64(max(1, marked))
}

// TestActivityMask compares the mask of a walking person with where the person is, at several sizes
// of the mask.
func TestActivityMask(t *testing.T) {
	for _, size := range [][2]int{{768, 432}, {320, 180}, {160, 90}, {101, 57}} {
		s := newScene(320, 180, 9, 2)
		d, err := motion.New(motion.Config{})
		require.NoError(t, err)
		mask := make([]byte, size[0]*size[1])
		for i := range 75 {
			at := float64(i) / 10
			s.empty()
			x := -0.08 + 0.2*(at-4)
			if at >= 4 {
				walker(s, x)
			}
			d.Step(s.take(epoch.Add(time.Duration(i) * 100 * time.Millisecond)))
			d.ActivityMask(mask, size[0], size[1])
			switch {
			case at < 4:
				require.NotContains(t, mask, byte(255), "at %v s", at)
			case at > 4.8:
				recall, precision := overlap(mask, size[0], size[1],
					motion.Box{Left: x, Top: 0.35, Right: x + 0.08, Bottom: 0.85})
				require.Greater(t, recall, 0.85, "%v at %v s", size, at)
				require.Greater(t, precision, 0.8, "%v at %v s", size, at)
			}
		}
	}
}

// TestActivityMaskOfOddSizes: no size and no length of the mask is wrong.
func TestActivityMaskOfOddSizes(t *testing.T) {
	d, err := motion.New(motion.Config{})
	require.NoError(t, err)
	mask := []byte{1, 2, 3, 4}
	d.ActivityMask(mask, 2, 2)
	require.Equal(t, []byte{0, 0, 0, 0}, mask, "before the first picture")
	d.Step(motion.Picture{Luma: make([]byte, 35), Width: 7, Height: 5, Stride: 7, Time: epoch})
	for _, size := range [][2]int{{1, 1}, {2, 2}, {4, 1}, {0, 0}, {-1, 3}, {5, 1}, {math.MaxInt, math.MaxInt}} {
		require.NotPanics(t, func() { d.ActivityMask(mask, size[0], size[1]) }, "%v", size)
	}
	d.ActivityMask(nil, 0, 0)
	require.InDelta(t, 0.0004, d.Threshold(), 1e-9)
}

// TestActivityMaskOfWhoWasThereFirst: what stood there when the detector began, and leaves, is
// found leaving, and its place is not in the mask for long.
func TestActivityMaskOfWhoWasThereFirst(t *testing.T) {
	s := newScene(320, 180, 9, 2)
	d, err := motion.New(motion.Config{})
	require.NoError(t, err)
	mask := make([]byte, 320*180)
	began := 0
	for i := range 140 {
		at := float64(i) / 10
		s.empty()
		walker(s, 0.4+0.25*max(0, at-6))
		for _, c := range d.Step(s.take(epoch.Add(time.Duration(i) * 100 * time.Millisecond))).Changes {
			if c.Kind == motion.Began {
				began++
			}
		}
		d.ActivityMask(mask, 320, 180)
		if at > 10.5 {
			require.NotContains(t, mask, byte(255), "at %v s", at)
		}
	}
	require.Equal(t, 1, began)
}
