package motion

import "encoding/binary"

// maxCells bounds the working size: 320x180 luma becomes 160x90 cells of 2x2 pixels.
const maxCells = 16384

// grid is how a picture is divided into square cells. What does not fill a cell at the right and the lower edge is left out.
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
	switch g.side {
	case 1:
		widen(p.Luma, p.Stride, g.width, g.height, cells)
	case 2:
		reduceTwo(p.Luma, p.Stride, g.width, g.height, cells)
	default:
		reducePlain(p.Luma, p.Stride, g.side, g.width, g.height, cells)
	}
}

// reducePlain is the reference: the mean of side x side pixels, in 1/256 grey levels, rounded down.
func reducePlain(luma []byte, stride, side, width, height int, cells []uint16) {
	for y := range height {
		for x := range width {
			var sum uint64
			for j := range side {
				at := (y*side+j)*stride + x*side
				for _, v := range luma[at : at+side] {
					sum += uint64(v)
				}
			}
			cells[y*width+x] = uint16(sum * 256 / uint64(side*side))
		}
	}
}

// reduceTwo is reducePlain for cells of 2x2 pixels, eight pixels of two rows at a time in one word.
func reduceTwo(luma []byte, stride, width, height int, cells []uint16) {
	const even = 0x00ff00ff00ff00ff
	for y := range height {
		top := luma[2*y*stride:][: 2*width : 2*width]
		low := luma[(2*y+1)*stride:][: 2*width : 2*width]
		out := cells[y*width:][:width:width]
		for len(top) >= 8 && len(low) >= 8 && len(out) >= 4 {
			a, b := binary.LittleEndian.Uint64(top), binary.LittleEndian.Uint64(low)
			// Four sums of four pixels, each at most 1020; times 64 stays below 1<<16.
			s := (a & even) + (a >> 8 & even) + (b & even) + (b >> 8 & even)
			s <<= 6
			out[0], out[1], out[2], out[3] = uint16(s), uint16(s>>16), uint16(s>>32), uint16(s>>48)
			top, low, out = top[8:], low[8:], out[4:]
		}
		for i := range out {
			out[i] = (uint16(top[2*i]) + uint16(top[2*i+1]) + uint16(low[2*i]) + uint16(low[2*i+1])) << 6
		}
	}
}

// widen is reducePlain for cells of one pixel.
func widen(luma []byte, stride, width, height int, cells []uint16) {
	for y := range height {
		row, out := luma[y*stride:][:width:width], cells[y*width:][:width:width]
		for x, v := range row {
			out[x] = uint16(v) << 8
		}
	}
}
