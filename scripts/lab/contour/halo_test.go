package contour

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The faint halo that a thermal camera lays around somebody who is warm is not marked; trousers
// that are darker than the place are, below a coat that is brighter.
func TestHaloIsNotMarked(t *testing.T) {
	view := func() *view {
		v := newView(14)
		for i := range v.place {
			v.place[i] = byte(100 + v.r.IntN(3))
		}
		v.empty(20)
		return v
	}
	body := box(60, 30, 90, 90, 210)
	haloed := func(x, y int) (float64, bool) {
		if level, in := body(x, y); in {
			return level, true
		}
		far := math.Hypot(float64(max(60-x, x-89, 0)), float64(max(30-y, y-89, 0)))
		return 100 - 30*max(0, 1-far/12), far < 12
	}
	v := view()
	for i := range 10 {
		v.next(1, haloed, haloed)
		recall, precision := v.score(body)
		require.Greater(t, recall, 0.95, "picture %d", i)
		require.Greater(t, precision, 0.9, "picture %d", i)
	}
	dressed := func(x, y int) (float64, bool) {
		_, in := body(x, y)
		level := 250.0
		if y >= 60 {
			level = 45
		}
		return level, in
	}
	v = view()
	for i := range 10 {
		v.next(1, dressed, dressed)
		recall, _ := v.score(dressed)
		require.Greater(t, recall, 0.93, "picture %d", i)
	}
}

// Something large that comes at once is no change of the light: it is marked, and its place is not
// when it is gone.
func TestLargeThingIsNoLight(t *testing.T) {
	v := newView(15)
	v.empty(20)
	large := func(x, y int) (float64, bool) { return float64(200 + 30*(y/9%2)), x > 30 && x < 105 }
	for i := range 5 {
		v.next(1, large, large)
		recall, _ := v.score(large)
		require.Greater(t, recall, 0.93, "picture %d", i)
	}
	v.next(1, nil, nil)
	require.Zero(t, v.marked(), "it left")
}
