package plane

import "encoding/binary"

// Tiles sets the bits of the tiles of 2x2 cells of a picture of width x height cells: in set for
// each tile in which a cell is solid or parked (not 0), in stands for each in which one is parked.
// Each row of tiles begins with a word of its own; set and stands hold as many words as all rows
// need, and are overwritten.
func Tiles(solid, parked []byte, width, height int, set, stands []uint64) {
	solid, parked = solid[:width*height], parked[:width*height]
	words, done := (width+127)/128, 0
	set, stands = set[:words*((height+1)/2)], stands[:words*((height+1)/2)]
	clear(set)
	clear(stands)
	if over := len(solid) - (width+31)&^31; over > 0 { // rows behind which there are cells enough
		done = tilesWide(solid, parked, width, (over/width+1)/2, set, stands)
	}
	last, inside := (width-1)/2/64, ^uint64(0)>>(63-(width-1)/2%64)
	for y := range (height + 1) / 2 {
		set, stands, from := set[y*words:][:words], stands[y*words:][:words], 0
		if y < done { // those beyond the row are put out, and so is half a tile at its end
			set[last], stands[last] = set[last]&inside, stands[last]&inside
			if width%2 == 0 {
				continue
			}
			from = width - 1
			set[last], stands[last] = set[last]&(inside>>1), stands[last]&(inside>>1)
		}
		tilesRow(solid[2*y*width:], parked[2*y*width:], width, min(2, height-2*y), from, set, stands)
	}
}

// tilesRow is Tiles for one row of tiles of as many rows of cells, 1 or 2, from a column on, where
// no bits are set yet.
func tilesRow(solid, parked []byte, width, rows, from int, set, stands []uint64) {
	low := (rows - 1) * width // the second row, or the first once more
	for ; from+8 <= width; from += 8 {
		p := binary.LittleEndian.Uint64(parked[from:]) | binary.LittleEndian.Uint64(parked[low+from:])
		s := binary.LittleEndian.Uint64(solid[from:]) | binary.LittleEndian.Uint64(solid[low+from:])
		stands[from/128] |= pairs(p) << (from / 2 % 64)
		set[from/128] |= pairs(p|s) << (from / 2 % 64)
	}
	for x := from; x < width; x++ {
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
func tilesPlain(solid, parked []byte, width, height int, set, stands []uint64) {
	clear(set)
	clear(stands)
	for y := range height {
		for x := range width {
			i, word, bit := y*width+x, y/2*((width+127)/128)+x/128, uint64(1)<<(x/2%64)
			if parked[i] != 0 {
				stands[word] |= bit
			}
			if solid[i] != 0 || parked[i] != 0 {
				set[word] |= bit
			}
		}
	}
}

// Stirs sets a bit for each cell of a row that is solid and moved, or is solid and began to differ
// from the background less than young ms ago where nothing is parked. Solid holds only 0 and 1;
// bits is overwritten.
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
