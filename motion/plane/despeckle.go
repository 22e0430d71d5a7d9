package plane

import "encoding/binary"

// SpeckleNeighbours is how many of the 3x3 cells around a flagged one, itself included, must be
// flagged for it to stay.
const SpeckleNeighbours = 4

// Despeckler leaves out flagged cells that are alone. Its zero value is ready after Resize.
type Despeckler struct {
	width, height int
	ones          []byte // 1 for each flagged cell, row after row without a gap, with zeroes before and behind
}

// Resize prepares for another number of cells.
func (d *Despeckler) Resize(width, height int) {
	d.width, d.height = width, height
	d.ones = make([]byte, width*height+2*(width+1)+8)
}

// Run sets solid[i] to 1 where a cell has any flag, is not masked (its mask is 255, not 0), and
// enough of its neighbours are so too, else to 0. It returns how many are solid.
//
// All rows are taken as one, in which the cell before the first of a row is the last of the row
// above. So a cell at the left or the right edge may get neighbours that are none, which makes it
// solid at most: those few are looked at again.
func (d *Despeckler) Run(flags, mask, solid []byte) (count int) {
	const low, high = 0x0101010101010101, 0x8080808080808080
	width, n := d.width, d.width*d.height
	flags, mask, solid = flags[:n], mask[:n], solid[:n]
	ones := d.ones[width+1:]
	done, any := onesWide(flags, mask, ones[:n])
	for i := done; i < n; i++ {
		v := flags[i] & mask[i]
		ones[i] = (v | v>>1) & 1
		any |= uint64(ones[i])
	}
	if any == 0 {
		clear(solid)
		return 0
	}
	done, count = despeckleWide(d.ones[:n+2*(width+1)], width, solid)
	clear(solid[done:])
	up, here, down := d.ones, d.ones[width:], d.ones[2*width:] // each begins at the cell before
	for i := done; i < n; i += 8 {
		m := binary.LittleEndian.Uint64(ones[i:])
		if m == 0 {
			continue
		}
		s := columns(up[i:]) + columns(here[i:]) + columns(down[i:])
		s = (s + (128-SpeckleNeighbours)*low) & high >> 7 & m
		count += int(s * low >> 56)
		if i+8 <= n {
			binary.LittleEndian.PutUint64(solid[i:], s)
			continue
		}
		for k := i; k < n; k++ {
			solid[k] = byte(s)
			s >>= 8
		}
	}
	for y, first := 0, 0; y < d.height; y, first = y+1, first+width {
		if last := first + width - 1; solid[first]|solid[last] != 0 {
			count -= d.alone(0, y, solid)
			if last > first {
				count -= d.alone(width-1, y, solid)
			}
		}
	}
	return count
}

// alone takes a cell that was found solid for what it is if too few of its neighbours are within
// the picture, and returns 1 then, else 0.
func (d *Despeckler) alone(x, y int, solid []byte) int {
	i, sum := y*d.width+x, 0
	for v := max(0, y-1); v < min(d.height, y+2); v++ {
		for u := max(0, x-1); u < min(d.width, x+2); u++ {
			sum += int(d.ones[(v+1)*d.width+u+1])
		}
	}
	if solid[i] == 0 || sum >= SpeckleNeighbours {
		return 0
	}
	solid[i] = 0
	return 1
}

// columns is for each of eight cells the sum of the cell, the one before and the one after; row
// begins with the one before.
func columns(row []byte) uint64 {
	row = row[:10]
	return binary.LittleEndian.Uint64(row) + binary.LittleEndian.Uint64(row[1:]) + binary.LittleEndian.Uint64(row[2:])
}

// despecklePlain is the reference of Despeckler.Run.
func despecklePlain(flags, mask []byte, width, height int, solid []byte) int {
	on := func(x, y int) int {
		if x < 0 || y < 0 || x >= width || y >= height || flags[y*width+x]&mask[y*width+x] == 0 {
			return 0
		}
		return 1
	}
	count := 0
	for y := range height {
		for x := range width {
			sum := 0
			for j := -1; j <= 1; j++ {
				sum += on(x-1, y+j) + on(x, y+j) + on(x+1, y+j)
			}
			solid[y*width+x] = 0
			if on(x, y) == 1 && sum >= SpeckleNeighbours {
				solid[y*width+x] = 1
				count++
			}
		}
	}
	return count
}
