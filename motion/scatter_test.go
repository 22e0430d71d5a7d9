package motion

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion/plane"
)

// TestScattered: specks all over the picture are scattered; people and a large thing are not.
func TestScattered(t *testing.T) {
	const w, h = 160, 90
	var d Detector
	d.resize(w, h)
	draw := func(in func(x, y int) bool) []plane.Block {
		for i := range d.solid {
			d.solid[i] = 0
			if in(i%w, i/w) {
				d.solid[i] = 1
			}
		}
		d.squares()
		return d.square
	}
	require.True(t, scattered(draw(func(x, y int) bool { return x%8 < 2 && y%6 < 2 })), "specks")
	require.False(t, scattered(draw(func(x, y int) bool { return x > 40 && x < 60 && y > 20 && y < 80 })), "a person")
	require.False(t, scattered(draw(func(x, y int) bool { return x > 10 && x < 150 && y > 5 })), "a truck")
	require.False(t, scattered(draw(func(x, y int) bool { return false })), "nothing")
}
