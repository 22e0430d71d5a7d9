package area

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// flooded is what Apart finds, written plainly.
func flooded(mask []byte, width int) []Bounds {
	all := []Bounds{}
	left := slices.Clone(mask)
	for i := range left {
		if left[i] == 0 {
			continue
		}
		b, queue := Bounds{Rect: NoRect}, []int{i}
		for left[i] = 0; len(queue) > 0; queue = queue[1:] {
			x, y := queue[0]%width, queue[0]/width
			b.Add(x, y)
			b.Cells++
			for _, step := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
				u, v := x+step[0], y+step[1]
				if u < 0 || u >= width || v < 0 || v*width >= len(left) || left[v*width+u] == 0 {
					continue
				}
				left[v*width+u] = 0
				queue = append(queue, v*width+u)
			}
		}
		all = append(all, b)
	}
	return all
}

func TestApartIsAFloodFill(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var a Apart
	for range 300 {
		width, height, dense := 1+r.IntN(40), 1+r.IntN(20), r.Float64()
		mask := make([]byte, width*height)
		for i := range mask {
			if r.Float64() < dense {
				mask[i] = byte(1 + r.IntN(255))
			}
		}
		got := append([]Bounds{}, a.Find(mask, width)...)
		for i, b := range got {
			require.NotZero(t, mask[b.Y*width+b.X])
			require.True(t, b.X >= b.Left && b.X < b.Right && b.Y >= b.Top && b.Y < b.Bottom)
			got[i].X, got[i].Y = 0, 0
		}
		order := func(p, q Bounds) int {
			return cmp.Or(p.Top-q.Top, p.Left-q.Left, p.Bottom-q.Bottom, p.Right-q.Right, p.Cells-q.Cells)
		}
		want := flooded(mask, width)
		slices.SortFunc(got, order)
		slices.SortFunc(want, order)
		require.Equal(t, want, got, "%dx%d, %.2f", width, height, dense)
	}
}
