package motion

import "vmsbridge/motion/plane"

const (
	scatterSide  = 2 * blockSide // cells, of the squares that are counted
	scatterShare = 0.35          // of the squares, in which something must change
	scatterFull  = 0.35          // of the cells of these squares, that change at most
)

// squares counts what the cells of each square of the picture are, and returns the sum of all.
func (d *Detector) squares() (all plane.Block) {
	plane.CountSolid(d.flags, d.solid, d.grid.width, d.grid.height, d.blocks)
	across, _ := plane.Blocks(d.grid.width, d.grid.height)
	d.square = d.square[:0]
	for left := d.blocks; len(left) > 0; {
		row, low := left[:across:across], left[across:]
		low = low[:min(across, len(low))]
		left = left[across+len(low):]
		for x := 0; x < across; x += scatterSide / blockSide {
			sum := row[x]
			if x+1 < across {
				sum += row[x+1]
			}
			if x < len(low) {
				sum += low[x]
			}
			if x+1 < len(low) {
				sum += low[x+1]
			}
			d.square = append(d.square, sum)
			all += sum
		}
	}
	return all
}

// scattered tells whether little changes in many places all over the picture, by its squares, as
// when the focus hunts, the camera shakes or snow falls.
func scattered(squares []plane.Block) bool {
	busy, cells := 0, 0
	for _, s := range squares {
		if n := s.Solid(); n >= speckles {
			busy++
			cells += n
		}
	}
	return float64(busy) >= scatterShare*float64(len(squares)) &&
		float64(cells) < scatterFull*scatterSide*scatterSide*float64(busy)
}

// speckles is how many cells of a square must change to be counted.
const speckles = 4
