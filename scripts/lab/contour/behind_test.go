package contour

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// striped is a box with stripes, moved to the right by some pixels.
func striped(left, top, right, bottom, by int) func(x, y int) (float64, bool) {
	return func(x, y int) (float64, bool) {
		_, there := box(left+by, top, right+by, bottom, 0)(x, y)
		return float64(170 + 40*((x-by)/4%2)), there
	}
}

// What was there first and leaves hides its own place as yet, so that both are one area, all of
// which the detector marks: only the thing is marked.
func TestWhatLeavesIsSplit(t *testing.T) {
	v := newView(11)
	for i := range v.place {
		v.place[i] = byte(95 + v.r.IntN(4))
	}
	for range 20 {
		v.next(1, striped(40, 40, 80, 80, 0), nil)
	}
	for i := range 34 {
		thing, place := striped(40, 40, 80, 80, i), box(40, 40, 80, 80, 0)
		v.next(1, thing, func(x, y int) (float64, bool) {
			_, a := thing(x, y)
			_, b := place(x, y)
			return 0, a || b
		})
		if i > 20 {
			_, precision := v.score(thing)
			require.Greater(t, precision, 0.75, "moved by %d pixels", i)
		}
	}
}

// A ghost is one although a broken line, which the thing hid, lies along its border and is brighter
// than the thing was.
func TestGhostOnALine(t *testing.T) {
	v := newView(12)
	for i := range v.place {
		if v.place[i] = byte(95 + v.r.IntN(4)); i/wide >= 41 && i/wide < 44 && i%wide%20 < 10 {
			v.place[i] = 245
		}
	}
	for range 20 {
		v.next(1, box(40, 40, 80, 80, 125), nil)
	}
	for range 3 {
		v.next(1, nil, box(40, 40, 80, 80, 0))
	}
	for range 8 {
		v.next(1, nil, nil)
	}
	require.Less(t, v.marked(), 100)
}

// What was background before is so again at once when the picture shows it, even if the detector
// marks it: a lamp is switched on, and off.
func TestFormerBackgroundReturns(t *testing.T) {
	v := newView(13)
	v.board()
	v.empty(20)
	lamp := box(50, 40, 90, 80, 180)
	for i := range 20 {
		mark := lamp
		if i > 4 {
			mark = nil
		}
		v.next(1, lamp, mark)
	}
	require.Zero(t, v.marked(), "the lamp is forgotten")
	v.next(1, nil, lamp)
	require.Less(t, v.marked(), 150, "and so is that it went")
}
