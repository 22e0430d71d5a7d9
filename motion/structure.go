package motion

import "vmsbridge/motion/plane"

// blockSide is the side, in cells, of the blocks in which a change of light is told from a change
// of things.
const blockSide = plane.BlockSide

// verdict is what a block's comparison with an earlier picture says.
type verdict uint8

const (
	unsure  verdict = iota // too little structure to tell
	lit                    // the same structure in another light
	changed                // another structure
)

// compare looks at one block of two pictures. Light scales and shifts what is there, so that the
// block's values stay in line with what they were (a normalised correlation near 1); a thing that
// comes, goes or moves puts others in their place.
func compare(now, before []uint16, width, x0, y0, x1, y1 int, floor int64) verdict {
	n, at := int64((x1-x0)*(y1-y0)), y0*width+x0
	l := plane.Compare(now[at:], before[at:], width, x1-x0, y1-y0)
	va, vb, cov := n*l.XX-l.X*l.X, n*l.YY-l.Y*l.Y, n*l.XY-l.X*l.Y
	textured := n * n * floor * floor
	if va < textured && vb < textured {
		return unsure
	}
	if va < textured || vb < textured || cov <= 0 {
		// Structure where there was none, or the other way round. Light alone can do so only by
		// hiding it in the dark.
		if max(va, vb) > 9*textured {
			return changed
		}
		return unsure
	}
	if f := float64(cov); f*f > 0.8*float64(va)*float64(vb) {
		return lit
	}
	return changed
}

// globalShare is the share of the picture that must change in light alone for the change to be
// global.
const globalShare = 0.15

// beamedShare is the share of the picture on which a beam of light fell lately, that must be lit
// otherwise than the background for it to become that: what is less is the beam on its way, which
// must leave no trace there.
const beamedShare = 0.08

// relight clears the flags of blocks that show the same things in another light, and tells whether
// the light of the whole scene changed. Blocks that are mostly unlike the background but have its
// structure, and do not move, get it anew at once.
func (d *Detector) relight(now, before []uint16) (global bool) {
	g := d.grid
	litCells, movedCells, litBlocks, changedBlocks := 0, 0, 0, 0
	d.unsure, d.beamed = d.unsure[:0], d.beamed[:0]
	plane.CountFlags(d.flags, g.width, g.height, d.blocks)
	across, _ := plane.Blocks(g.width, g.height)
	for y0 := 0; y0 < g.height; y0 += blockSide {
		y1 := min(y0+blockSide, g.height)
		for k, b := range d.blocks[y0/blockSide*across:][:across] {
			if b == 0 {
				continue
			}
			x0 := k * blockSide
			x1 := min(x0+blockSide, g.width)
			moved, fore := b.Moved(), b.Fore()
			cells := (x1 - x0) * (y1 - y0)
			if 2*moved < cells && 2*fore < cells {
				continue
			}
			floor := max(40, 2*int64(d.noiseOf(x0, y0, x1, y1)/cells)>>4) // 2.5 grey levels, or twice the noise
			if 2*moved >= cells {
				movedCells += moved
				switch compare(now, before, g.width, x0, y0, x1, y1, floor) {
				case lit:
					litCells += cells
					litBlocks++
					d.clearBlock(x0, y0, x1, y1, cellMoved)
				case changed:
					changedBlocks++
				case unsure:
					d.unsure = append(d.unsure, int32(y0*g.width+x0))
				}
			}
			if 2*fore >= cells && 2*moved < cells && compare(now, d.model.background, g.width, x0, y0, x1, y1,
				floor) == lit {
				if d.unlit.knows((y0+y1)/2*g.width + (x0+x1)/2) {
					d.beamed = append(d.beamed, int32(y0*g.width+x0))
				} else {
					d.bake(now, x0, y0, x1, y1)
				}
			}
		}
	}
	if float64(len(d.beamed)*blockSide*blockSide) >= beamedShare*float64(g.cells()) {
		for _, at := range d.beamed {
			x0, y0 := int(at)%g.width, int(at)/g.width
			d.bake(now, x0, y0, min(x0+blockSide, g.width), min(y0+blockSide, g.height))
		}
	}
	// A smooth wall cannot tell by itself; it goes with what the rest of the picture says.
	if litBlocks >= 4 && litBlocks >= 3*changedBlocks {
		for _, at := range d.unsure {
			x0, y0 := int(at)%g.width, int(at)/g.width
			x1, y1 := min(x0+blockSide, g.width), min(y0+blockSide, g.height)
			d.clearBlock(x0, y0, x1, y1, cellMoved)
			litCells += (x1 - x0) * (y1 - y0)
		}
	}
	return float64(litCells) >= globalShare*float64(g.cells()) && 2*litCells >= movedCells
}

// noiseOf sums the noise of a block.
func (d *Detector) noiseOf(x0, y0, x1, y1 int) int {
	noise := 0
	for y := y0; y < y1; y++ {
		row := d.model.noise[y*d.grid.width+x0 : y*d.grid.width+x1]
		if len(row) == blockSide { // mostly
			noise += int(row[0]) + int(row[1]) + int(row[2]) + int(row[3]) + int(row[4]) + int(row[5]) + int(row[6]) +
				int(row[7])
			continue
		}
		for _, v := range row {
			noise += int(v)
		}
	}
	return noise
}

func (d *Detector) clearBlock(x0, y0, x1, y1 int, bit byte) {
	for y := y0; y < y1; y++ {
		row := y * d.grid.width
		for i := row + x0; i < row+x1; i++ {
			d.flags[i] &^= bit
		}
	}
}

// bake makes the newest picture of a block the background.
func (d *Detector) bake(now []uint16, x0, y0, x1, y1 int) {
	w := d.grid.width
	d.clearBlock(x0, y0, x1, y1, cellFore)
	for y := y0; y < y1; y++ {
		copy(d.model.background[y*w+x0:y*w+x1], now[y*w+x0:y*w+x1])
		clear(d.unlit.left[y*w+x0 : y*w+x1])
	}
}
