package motion

import (
	"encoding/binary"
	"math/bits"
)

const (
	scatterSide   = 16   // cells, of the squares that are counted
	scatterShare  = 0.35 // of the squares, in which something must change
	scatterFull   = 0.35 // of the cells of these squares, that change at most
	compactShare  = 0.25 // of its box, that a thing fills at least to be told from what is scattered
	fillsPicture  = 0.5  // of the picture: nothing that is so large begins to move at once
	strangeShare  = 0.35 // of the picture, that differs from the background though it is still: it is another scene
	strangeMoves  = 0.1  // of the picture, that moves at most then
	strangeAbsorb = 500  // ms without change after which that becomes the background
)

// scattered tells whether little changes in many places all over the picture, as when the focus hunts, the camera shakes or snow falls. Solid holds 0 and 1.
func scattered(solid []byte, width, height int) bool {
	squares, busy, cells := 0, 0, 0
	for y0 := 0; y0 < height; y0 += scatterSide {
		for x0 := 0; x0 < width; x0 += scatterSide {
			n := 0
			x1 := min(x0+scatterSide, width)
			for y := y0; y < min(y0+scatterSide, height); y++ {
				row := solid[y*width+x0 : y*width+x1]
				for ; len(row) >= 8; row = row[8:] {
					n += bits.OnesCount64(binary.LittleEndian.Uint64(row))
				}
				for _, v := range row {
					n += int(v)
				}
			}
			squares++
			if n >= speckles {
				busy++
				cells += n
			}
		}
	}
	return float64(busy) >= scatterShare*float64(squares) && float64(cells) < scatterFull*scatterSide*scatterSide*float64(busy)
}

// speckles is how many cells of a square must change to be counted.
const speckles = 4

// strange tells whether most of the picture is not what it was, but still: the light changed in a way that nothing here understands, or somebody turned the camera.
func (d *Detector) strange(solid int) bool {
	n := float64(d.grid.cells())
	if float64(solid) < strangeShare*n {
		return false
	}
	fore, moved := 0, 0
	for i, f := range d.flags {
		fore += int(f & cellFore & d.solid[i])
		moved += int(f & cellMoved / cellMoved)
	}
	return float64(fore) >= strangeShare*n && float64(moved) < strangeMoves*n
}
