package motion

import "vmsbridge/motion/plane"

// maxCells bounds the working size: 320x180 luma becomes 160x90 cells of 2x2 pixels.
const maxCells = 16384

// grid is how a picture is divided into square cells. What does not fill a cell at the right and
// the lower edge is left out.
type grid struct {
	pictureWidth, pictureHeight int
	side                        int // of a cell, in pixels
	width, height               int // in cells
}

// newGrid chooses the smallest cells of which at most maxCells are needed.
func newGrid(width, height int) grid {
	side := 1
	for (width/side)*(height/side) > maxCells {
		side++
	}
	// A strip one pixel high must not lose all its cells to the rounding.
	side = max(1, min(side, width, height))
	g := grid{pictureWidth: width, pictureHeight: height, side: side, width: width / side, height: height / side}
	for g.width*g.height > maxCells { // an absurdly long strip: look at its beginning
		if g.width > g.height {
			g.width = maxCells / g.height
		} else {
			g.height = maxCells / g.width
		}
	}
	return g
}

func (g grid) cells() int { return g.width * g.height }

// reduce writes the mean luma of each cell into cells, in 1/256 grey levels (0..65280).
func (g grid) reduce(p Picture, cells []uint16) {
	plane.Means(p.Luma, p.Stride, g.side, g.width, g.height, cells)
}
