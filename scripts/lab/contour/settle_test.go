package contour

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is left behind is forgotten even if the detector goes on marking it.
func TestMarkedGhost(t *testing.T) {
	v := newView(8)
	left := box(37, 40, 67, 80, 200)
	for range 20 {
		v.next(1, left, nil)
	}
	for range 5 {
		v.next(1, nil, left)
	}
	require.Zero(t, v.marked())
	for i := range 20 { // what is there is kept, as long as it is marked
		v.next(1, left, left)
		recall, _ := v.score(left)
		require.Greater(t, recall, 0.95, "picture %d", i)
	}
}

// A lamp, smooth and as bright as something that stands there, has its edges where the place has
// its own: it is forgotten. What has the same brightness and other edges stays.
func TestLampIsForgotten(t *testing.T) {
	marked := func(shape func(x, y int) (float64, bool)) int {
		v := newView(9)
		v.board()
		v.empty(20)
		for i := range 40 {
			mark := shape
			if i > 5 {
				mark = nil
			}
			v.next(1, shape, mark)
		}
		return v.marked()
	}
	require.Zero(t, marked(box(50, 40, 90, 80, 180)))
	require.Greater(t, marked(box(20, 30, 60, 70, 180)), 1400)
}

// What goes on changing while the detector marks nothing is a flag, and no thing that stands there.
func TestFlagIsForgotten(t *testing.T) {
	v := newView(10)
	v.empty(20)
	waves := func(i int) func(x, y int) (float64, bool) {
		return func(x, y int) (float64, bool) {
			_, there := box(40, 30, 70, 50, 0)(x, y)
			return float64(180 + 60*((x/5+i)%2)), there
		}
	}
	for i := range 5 {
		v.next(1, waves(i), box(40, 30, 70, 50, 0))
	}
	require.Greater(t, v.marked(), 400)
	for i := range 15 {
		v.next(1, waves(i), nil)
	}
	require.Zero(t, v.marked())
}
