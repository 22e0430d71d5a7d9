package pipeline

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec"
)

// How far two keyframes are apart, beside the plain formula, in odd sizes.
func TestSameViewIsThePlainFormula(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		p := codec.Picture{LumaWidth: 8 + r.IntN(90), LumaHeight: 8 + r.IntN(60)}
		var v sameView
		for range 3 {
			base, noise := r.IntN(200), 1+r.IntN(50)
			p.Luma = make([]byte, p.LumaWidth*p.LumaHeight)
			for i := range p.Luma {
				p.Luma[i] = byte(base + r.IntN(noise))
			}
			v.take(p)
		}
		sum := 0
		for i, c := range v.cells {
			sum += int(c - v.before[i])
		}
		shift := sum / len(v.cells)
		require.Equal(t, abs(shift) > viewLight*viewCell*viewCell, v.bright)
		for i, s := range viewScales {
			most := 0
			for y := 0; y+s.side <= v.height; y += s.step {
				for x := 0; x+s.side <= v.width; x += s.step {
					sum := 0
					for at := range s.side * s.side {
						from := (y+at/s.side)*v.width + x + at%s.side
						sum += int(v.cells[from] - v.before[from])
					}
					most = max(most, abs(sum-shift*s.side*s.side))
				}
			}
			require.InDelta(t, float64(most)/float64(s.side*s.side*viewCell*viewCell), v.apart[i], 0,
				"%dx%d, squares of %d", v.width, v.height, s.side)
		}
	}
}
