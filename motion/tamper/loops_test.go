package tamper

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
)

// The loops that see each pixel or cell, beside the plain formula of each, in pictures of odd sizes
// and with rows that are longer than the picture.
func TestLoops(t *testing.T) {
	for _, size := range [][2]int{{320, 180}, {317, 179}, {320, 240}, {97, 60}, {640, 361}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(size[0]), uint64(size[1])))
			p := motion.Picture{Width: size[0], Height: size[1], Stride: size[0] + 13, Time: time.Unix(1e9, 0)}
			p.Luma = make([]byte, p.Stride*(p.Height-1)+p.Width)
			for i := range p.Luma {
				p.Luma[i] = byte(r.UintN(256))
			}
			w, err := New(Config{})
			require.NoError(t, err)
			w.Step(p)
			g := w.grid
			near := func(want, got float32, what string, at ...int) {
				t.Helper()
				require.InDelta(t, want, got, 0.01+1e-5*float64(abs(want)), "%s %v", what, at)
			}
			for y := range g.height {
				for x := range g.width {
					sum, n := 0, float32(0)
					for j := range g.side * g.side {
						sum += int(p.Luma[(y*g.side+j/g.side)*p.Stride+x*g.side+j%g.side])
					}
					near(float32(sum)/float32(g.side*g.side), w.now.cells[y*g.width+x], "cell", x, y)
					around := float32(0)
					for v := max(0, y-reach); v < min(g.height, y+reach+1); v++ {
						for u := max(0, x-reach); u < min(g.width, x+reach+1); u++ {
							around, n = around+w.now.cells[v*g.width+u], n+1
						}
					}
					near(w.now.cells[y*g.width+x]-around/n, w.now.stand[y*g.width+x], "stands out", x, y)
				}
			}
			var levels, own, fine [blocks]float32
			for y := range p.Height {
				for b := range blocksX {
					x0, x1 := block(b, blocksX, p.Width)
					for x := x0; x < x1; x++ {
						levels[y*blocksY/p.Height*blocksX+b] += float32(p.Luma[y*p.Stride+x]) / float32(x1-x0)
					}
				}
			}
			for b, l := range w.still.levels() {
				near(levels[b]*blocksY/float32(p.Height), l, "level", b)
			}
			pixel := func(x, y int) int { return int(p.Luma[y*g.pitch*p.Stride+x*g.pitch]) }
			for y := range g.fineHeight {
				for x := range g.fineWidth {
					v := 4*pixel(x+1, fineRows*y+1) - pixel(x, fineRows*y+1) - pixel(x+2, fineRows*y+1) -
						pixel(x+1, fineRows*y) - pixel(x+1, fineRows*y+2)
					near(float32(v), w.curl.fine[y*g.fineWidth+x], "curvature", x, y)
					near(float32(v), w.refs[0].fine[y*g.fineWidth+x], "learned", x, y)
					bx := 0
					for _, to := block(bx, blocksX, g.fineWidth); x >= to; _, to = block(bx, blocksX, g.fineWidth) {
						bx++
					}
					own[g.fineBlock(bx, y)] += float32(v) * float32(v)
					fine[g.fineBlock(bx, y)]++
				}
			}
			d := w.refs[0].detail(g, &w.curl)
			for b := range own {
				near(own[b], d.own[b], "own", b)
				near(own[b], d.both[b], "both", b)
				near(own[b], d.was[b], "was", b)
				require.InDelta(t, fine[b], d.count[b], 0, "count %d", b)
			}
		})
	}
}
