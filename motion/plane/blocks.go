package plane

import "encoding/binary"

// BlockSide is the side of a block, in cells.
const BlockSide = 8

// Block is how many cells of a block are what: four counts of 16 bits, so that Blocks can be added
// up. Blocks at the right and at the lower edge of a picture may be smaller than others.
type Block uint64

// Fore is how many cells have the flag.
func (b Block) Fore() int { return int(b & 0xffff) }

// Moved is how many cells have the flag.
func (b Block) Moved() int { return int(b >> 16 & 0xffff) }

// Solid is how many cells are solid.
func (b Block) Solid() int { return int(b >> 32 & 0xffff) }

// Moves is how many cells are solid and have the flag Moved.
func (b Block) Moves() int { return int(b >> 48) }

// Blocks is how many blocks a picture of width x height cells has in a row, and in all.
func Blocks(width, height int) (across, all int) {
	across = (width + BlockSide - 1) / BlockSide
	return across, across * ((height + BlockSide - 1) / BlockSide)
}

// CountFlags counts the flags in all blocks of a picture, row after row. Solid and Moves are 0.
func CountFlags(flags []byte, width, height int, blocks []Block) {
	for len(flags) >= width && height > 0 {
		rows := min(BlockSide, height)
		across := (width + BlockSide - 1) / BlockSide
		band, out := flags[:rows*width], blocks[:across:across]
		done := flagsWide(band, width, rows, out[:width/16*2])
		for ; (done+1)*BlockSide <= width; done++ {
			out[done] = flagsWord(band[done*BlockSide:], width, rows)
		}
		if done < across {
			out[done] = lastBlock(band, nil, width, rows)
		}
		flags, height, blocks = flags[rows*width:], height-rows, blocks[across:]
	}
}

// CountSolid counts the solid cells in all blocks of a picture, row after row, and how many of them
// have the flags. Solid holds only 0 and 1. Fore is counted among the solid cells, Moved among all.
func CountSolid(flags, solid []byte, width, height int, blocks []Block) {
	for len(flags) >= width && height > 0 {
		rows := min(BlockSide, height)
		across := (width + BlockSide - 1) / BlockSide
		band, hard, out := flags[:rows*width], solid[:rows*width], blocks[:across:across]
		done := solidWide(band, hard, width, rows, out[:width/16*2])
		for ; (done+1)*BlockSide <= width; done++ {
			out[done] = solidWord(band[done*BlockSide:], hard[done*BlockSide:], width, rows)
		}
		if done < across {
			out[done] = lastBlock(band, hard, width, rows)
		}
		flags, solid, height, blocks = flags[rows*width:], solid[rows*width:], height-rows, blocks[across:]
	}
}

// lastBlock is the block at the right edge of a row of them, of less than eight columns. Solid is
// nil for CountFlags.
func lastBlock(flags, solid []byte, width, rows int) Block {
	columns := width % BlockSide
	if width < BlockSide {
		return blockPlain(flags, solid, width, columns, rows)
	}
	// Of the last eight cells of each row, those before the block are shifted out.
	const ones = 0x0101010101010101
	by := 8 * (BlockSide - columns) & 63
	var fore, moved, hard, moves uint64
	if solid == nil {
		for at := width - BlockSide; at+BlockSide <= rows*width; at += width {
			v := binary.LittleEndian.Uint64(flags[at:]) >> by
			fore += v & ones
			moved += v / Moved & ones
		}
		return Block(fore*ones>>56 | moved*ones>>56<<16)
	}
	for at := width - BlockSide; at+BlockSide <= rows*width; at += width {
		v, s := binary.LittleEndian.Uint64(flags[at:])>>by, binary.LittleEndian.Uint64(solid[at:])>>by
		hard += s
		moves += v / Moved & s
		fore += v & s
		moved += v / Moved & ones
	}
	return Block(fore*ones>>56 | moved*ones>>56<<16 | hard*ones>>56<<32 | moves*ones>>56<<48)
}

// flagsWord is one block of eight columns of CountFlags: a row is a word, of which every byte
// counts to eight at most.
func flagsWord(flags []byte, pitch, rows int) Block {
	const ones = 0x0101010101010101
	var fore, moved uint64
	for j := range rows {
		v := binary.LittleEndian.Uint64(flags[j*pitch:])
		fore += v & (ones * Fore)
		moved += v / Moved & ones
	}
	return Block(fore*ones>>56 | moved*ones>>56<<16)
}

// solidWord is the same for CountSolid.
func solidWord(flags, solid []byte, pitch, rows int) Block {
	const ones = 0x0101010101010101
	var fore, moved, hard, moves uint64
	for j := range rows {
		v, s := binary.LittleEndian.Uint64(flags[j*pitch:]), binary.LittleEndian.Uint64(solid[j*pitch:])
		fore += v & s
		moved += v / Moved & ones
		hard += s
		moves += v / Moved & s
	}
	return Block(fore*ones>>56 | moved*ones>>56<<16 | hard*ones>>56<<32 | moves*ones>>56<<48)
}

// blockPlain is the reference of CountSolid for one block, and without solid cells of CountFlags.
func blockPlain(flags, solid []byte, pitch, columns, rows int) Block {
	var b Block
	for j := range rows {
		for i, f := range flags[j*pitch:][:columns] {
			fore, moved := Block(f&Fore), Block(f/Moved&1)
			b += moved << 16
			if solid != nil {
				hard := Block(solid[j*pitch+i])
				fore &= hard
				b += hard<<32 + (moved&hard)<<48
			}
			b += fore
		}
	}
	return b
}
