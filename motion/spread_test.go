package motion

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSpread: what grows from where something moved is not far from it, however large it becomes;
// what moves everywhere at once is, and so is what began in the last calm picture.
func TestSpread(t *testing.T) {
	const w, h, each = 160, 96, 100 * time.Millisecond
	everywhere := func(int, int) bool { return true }
	upTo := func(n int) func(x, y int) bool { return func(x, _ int) bool { return x < 16*n } }
	for _, c := range []struct {
		name     string
		pictures []func(x, y int) bool
		calm     int // the last of them that is calm
		share    float64
	}{
		{"it grows", []func(x, y int) bool{upTo(1), upTo(2), upTo(3), upTo(4), upTo(5), upTo(6)}, 2, 0},
		{"it begins in the calm picture", []func(x, y int) bool{upTo(2), upTo(3), upTo(4), upTo(5)}, 0, 0.2},
		{"at once", []func(x, y int) bool{upTo(1), upTo(1), everywhere}, 1, 0.8},
		{"at once, and then no more", []func(x, y int) bool{upTo(1), upTo(1), everywhere, upTo(1)}, 1, 0.8},
		{"beside what was a moment ago", []func(x, y int) bool{upTo(9), everywhere}, -1, 0.9},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d Detector
			d.resize(w, h)
			calm := time.Duration(0)
			for i, moves := range c.pictures {
				for k := range d.solid {
					d.solid[k], d.flags[k] = 0, 0
					if moves(k%w, k/w) {
						d.solid[k], d.flags[k] = 1, cellMoved
					}
				}
				d.squares()
				at := time.Second + time.Duration(i)*each
				d.spread.take(d.square, at, each, calm)
				if i <= c.calm {
					calm = at
				}
			}
			require.InDelta(t, c.share, d.spread.share(), 0.01)
		})
	}
}
