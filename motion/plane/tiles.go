package plane

import "encoding/binary"

// Tiles sets the bits of one row of tiles of 2x2 cells: in set for each tile in which a cell is solid or parked (not 0), in stands for each in which one is parked. The row
// begins at the first cell of solid and parked, which may go on behind it; it has rows rows, 1 or 2, of width cells. Set and stands hold a bit for each tile and are overwritten.
func Tiles(solid, parked []byte, width, rows int, set, stands []uint64) {
	low := (rows - 1) * width // the second row, or the first once more
	clear(set)
	clear(stands)
	done := 0
	if whole := (width + 31) &^ 31; width%2 == 0 && low+whole <= len(solid) && low+whole <= len(parked) {
		done = tilesWide(solid, parked, low, whole, set, stands) // those beyond the row are put out
	} else {
		done = tilesWide(solid[:low+width], parked[:low+width], low, width, set, stands)
	}
	if done >= width {
		last, inside := (width-1)/128, ^uint64(0)>>(63-(width-1)/2%64)
		set[last], stands[last] = set[last]&inside, stands[last]&inside
		return
	}
	for ; done+8 <= width; done += 8 {
		p := binary.LittleEndian.Uint64(parked[done:]) | binary.LittleEndian.Uint64(parked[low+done:])
		s := binary.LittleEndian.Uint64(solid[done:]) | binary.LittleEndian.Uint64(solid[low+done:])
		stands[done/128] |= pairs(p) << (done / 2 % 64)
		set[done/128] |= pairs(p|s) << (done / 2 % 64)
	}
	for x := done; x < width; x++ {
		bit := uint64(1) << (x / 2 % 64)
		p := parked[x] | parked[low+x]
		if p != 0 {
			stands[x/128] |= bit
		}
		if p|solid[x]|solid[low+x] != 0 {
			set[x/128] |= bit
		}
	}
}

// pairs has a bit for each two bytes of which one is not 0.
func pairs(v uint64) uint64 {
	const even = 0x00ff00ff00ff00ff
	v = (v | v>>8) & even
	v = (v + even) >> 8 & (even & 0x0101010101010101) // 1 in each 16 bits
	return v * (1<<48 | 1<<33 | 1<<18 | 1<<3) >> 48 & 15
}

// tilesPlain is the reference of Tiles.
func tilesPlain(solid, parked []byte, width, rows int, set, stands []uint64) {
	clear(set)
	clear(stands)
	for y := range rows {
		for x := range width {
			i, bit := y*width+x, uint64(1)<<(x/2%64)
			if parked[i] != 0 {
				stands[x/128] |= bit
			}
			if solid[i] != 0 || parked[i] != 0 {
				set[x/128] |= bit
			}
		}
	}
}

// Stirs sets a bit for each cell of a row that is solid and moved, or is solid and began to differ from the background less than young ms ago where nothing is parked. Solid holds
// only 0 and 1; bits is overwritten.
func Stirs(flags, solid, parked []byte, stay []uint16, young uint16, bits []uint64) {
	n := len(flags)
	solid, parked, stay = solid[:n], parked[:n], stay[:n]
	clear(bits)
	done := stirsWide(flags, solid, parked, stay, young, bits)
	stirsPlain(flags, solid, parked, stay, young, bits, done)
}

// stirsPlain is the reference of Stirs, from a cell on.
func stirsPlain(flags, solid, parked []byte, stay []uint16, young uint16, bits []uint64, from int) {
	for x := from; x < len(flags); x++ {
		if f := flags[x]; solid[x] != 0 && (f&Moved != 0 || f&Fore != 0 && stay[x] < young && parked[x] == 0) {
			bits[x/64] |= 1 << (x % 64)
		}
	}
}
