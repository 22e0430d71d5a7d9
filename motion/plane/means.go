package plane

import (
	"encoding/binary"
	"math/bits"
)

// Means writes the mean luma of each cell of side x side pixels into cells, width x height of them,
// in 1/256 grey levels (0..65280), rounded down. Luma has at least height*side rows, stride bytes
// apart.
func Means(luma []byte, stride, side, width, height int, cells []uint16) {
	switch {
	case side == 1:
		for y := range height {
			row, out := luma[y*stride:][:width:width], cells[y*width:][:width:width]
			done := widenWide(row, out)
			for x, v := range row[done:] {
				out[done+x] = uint16(v) << 8
			}
		}
	case side == 2:
		meansTwo(luma[:(2*height-1)*stride+2*width], stride, width, height, cells[:width*height])
	case side == 4:
		for y := range height {
			rows, out := luma[4*y*stride:][:3*stride+4*width], cells[y*width:][:width:width]
			if done := meansFourWide(rows, stride, out); done < width {
				meansMany(rows[4*done:], stride, 4, width-done, 1, out[done:])
			}
		}
	case side <= 257: // a column's sum of the rows of a cell fits 16 bits
		meansMany(luma, stride, side, width, height, cells)
	default:
		meansPlain(luma, stride, side, width, height, cells)
	}
}

// meansPlain is the reference of Means.
func meansPlain(luma []byte, stride, side, width, height int, cells []uint16) {
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

// meansTwo is Means for cells of 2x2 pixels: mostly there are vectors for them, else words of eight
// bytes.
func meansTwo(luma []byte, stride, width, height int, cells []uint16) {
	if width >= 8 && meansTwoWide(luma, stride, width, height, cells) == height {
		return
	}
	const even = 0x00ff00ff00ff00ff
	for y := range height {
		top, low, out := luma[2*y*stride:][:2*width], luma[(2*y+1)*stride:][:2*width], cells[y*width:][:width]
		for len(top) >= 8 && len(low) >= 8 && len(out) >= 4 {
			a, b := binary.LittleEndian.Uint64(top), binary.LittleEndian.Uint64(low)
			// Four sums of four pixels, each at most 1020; times 64 stays below 1<<16.
			s := (a&even + a>>8&even + b&even + b>>8&even) << 6
			out[0], out[1], out[2], out[3] = uint16(s), uint16(s>>16), uint16(s>>32), uint16(s>>48)
			top, low, out = top[8:], low[8:], out[4:]
		}
		for i := range out {
			out[i] = (uint16(top[2*i]) + uint16(top[2*i+1]) + uint16(low[2*i]) + uint16(low[2*i+1])) << 6
		}
	}
}

// meansMany is Means for larger cells: first the sums of columns, some hundred at a time, then
// those of the cells.
func meansMany(luma []byte, stride, side, width, height int, cells []uint16) {
	var columns [512]uint16
	block := len(columns) / side // cells
	scale := ^uint64(0)/uint64(side*side) + 1
	for y := range height {
		rows, out := luma[y*side*stride:], cells[y*width:][:width:width]
		for len(out) > 0 {
			n := min(block, len(out))
			sums := columns[:n*side]
			sumColumns(rows, stride, side, sums)
			for x := range n {
				var sum uint32
				if side == 3 {
					c := sums[3*x:][:3:3]
					sum = uint32(c[0]) + uint32(c[1]) + uint32(c[2])
				} else {
					for _, v := range sums[x*side:][:side:side] {
						sum += uint32(v)
					}
				}
				// A product with the rounded up 2^64/n is exact for dividends of 32 bits.
				mean, _ := bits.Mul64(uint64(sum)<<8, scale)
				out[x] = uint16(mean)
			}
			rows, out = rows[min(n*side, len(rows)):], out[n:]
		}
	}
}

// sumColumns adds up the rows of luma, each from its beginning.
func sumColumns(luma []byte, stride, rows int, sums []uint16) {
	done := sumColumnsWide(luma[:(rows-1)*stride+len(sums)], stride, rows, sums)
	sums = sums[done:]
	clear(sums)
	for j := range rows {
		for i, v := range luma[j*stride+done:][:len(sums):len(sums)] {
			sums[i] += uint16(v)
		}
	}
}
