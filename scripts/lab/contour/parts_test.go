package contour

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawBits draws a small picture of zeroes and ones, and a rect in it.
func drawBits(t *rapid.T) (c *Contour, bits []byte, r rect) {
	w, h := rapid.IntRange(1, 40).Draw(t, "width"), rapid.IntRange(1, 20).Draw(t, "height")
	bits = rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0, 1}), w*h, w*h).Draw(t, "bits")
	r.left, r.top = rapid.IntRange(0, w-1).Draw(t, "left"), rapid.IntRange(0, h-1).Draw(t, "top")
	r.right, r.bottom = rapid.IntRange(r.left+1, w).Draw(t, "right"), rapid.IntRange(r.top+1, h).Draw(t, "bottom")
	return &Contour{width: w, height: h}, bits, r
}

// flooded are the parts as a flood from pixel to pixel finds them, each sorted.
func flooded(c *Contour, bits []byte, value byte, r rect) (parts [][]int32) {
	seen := make([]bool, len(bits))
	for y := r.top; y < r.bottom; y++ {
		for x := r.left; x < r.right; x++ {
			if i := y*c.width + x; bits[i] != value || seen[i] {
				continue
			}
			part := []int32{int32(y*c.width + x)}
			seen[part[0]] = true
			for at := 0; at < len(part); at++ {
				px, py := int(part[at])%c.width, int(part[at])/c.width
				for v := max(r.top, py-1); v <= min(r.bottom-1, py+1); v++ {
					for u := max(r.left, px-1); u <= min(r.right-1, px+1); u++ {
						if j := v*c.width + u; bits[j] == value && !seen[j] {
							seen[j] = true
							part = append(part, int32(j))
						}
					}
				}
			}
			slices.Sort(part)
			parts = append(parts, part)
		}
	}
	return parts
}

// Parts are those of a flood, in the same order, with the same pixels.
func TestPartsAreThoseOfAFlood(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, bits, r := drawBits(t)
		value := rapid.SampledFrom([]byte{0, 1}).Draw(t, "value")
		var parts [][]int32
		c.divide(bits, value, r)
		for part := range c.parts {
			c.walk(part)
			require.Equal(t, len(c.queue), c.size(part))
			reaches := slices.ContainsFunc(c.queue, func(i int32) bool {
				x, y := int(i)%c.width, int(i)/c.width
				return x == r.left || x+1 == r.right || y == r.top || y+1 == r.bottom
			})
			require.Equal(t, reaches, c.reaches(part, r))
			slices.Sort(c.queue)
			parts = append(parts, slices.Clone(c.queue))
			painted := make([]byte, len(bits))
			c.paint(part, painted, 1)
			for i, v := range painted {
				_, in := slices.BinarySearch(c.queue, int32(i))
				require.Equal(t, in, v == 1)
			}
		}
		require.Equal(t, flooded(c, bits, value, r), parts)
	})
}

// Count is how many there are in each square, where it goes over the picture's border as well.
func TestCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, bits, within := drawBits(t)
		r := rapid.IntRange(1, 12).Draw(t, "reach")
		next := within.top
		c.count(bits, r, within, func(y int, sums []int32) {
			require.Equal(t, next, y)
			next++
			require.Len(t, sums, within.right-within.left)
			for k, got := range sums {
				x, want, all := within.left+k, int32(0), int32(0)
				for v := max(0, y-r); v <= min(c.height-1, y+r); v++ {
					for u := max(0, x-r); u <= min(c.width-1, x+r); u++ {
						want += int32(bits[v*c.width+u])
						all++
					}
				}
				require.Equal(t, want, got, "%d,%d", x, y)
				require.Equal(t, all, c.rowsAround(y, r)*c.columnsAround(x, r))
			}
		})
		require.Equal(t, within.bottom, next)
	})
}
