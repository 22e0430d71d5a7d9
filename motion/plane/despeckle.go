package plane

import "encoding/binary"

// SpeckleNeighbours is how many of the 3x3 cells around a flagged one, itself included, must be flagged for it to stay.
const SpeckleNeighbours = 4

// Despeckler leaves out flagged cells that are alone. Its zero value is ready after Resize.
type Despeckler struct {
	width, height int
	pitch         int    // bytes from one row of ones to the next: at least one more than a row's words
	ones          []byte // 1 for each flagged cell, with zeroes around
}

// Resize prepares for another number of cells.
func (d *Despeckler) Resize(width, height int) {
	d.width, d.height, d.pitch = width, height, (width+15)&^15+16
	d.ones = make([]byte, 8+(height+2)*d.pitch+8)
}

// Run sets solid[i] to 1 where a cell has any flag, is not masked (its mask is 255, not 0), and enough of its neighbours are so too, else to 0.
// It returns how many are solid.
func (d *Despeckler) Run(flags, mask, solid []byte) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	width, n := d.width, d.width*d.height
	wide := (width + 15) &^ 15 // cells of a row that fill vectors; the last may be of the next row
	flags, mask, solid = flags[:n], mask[:n], solid[:n]
	first, last := d.height, -1 // rows with a flag; maybe one more
	for y := range d.height {
		from, to := y*width, min(y*width+wide, n)
		out := d.ones[8+(y+1)*d.pitch:][:wide+16]
		done, any := onesWide(flags[from:to], mask[from:to], out)
		if done > width { // those of the next row are put out
			binary.LittleEndian.PutUint64(out[width:], 0)
			binary.LittleEndian.PutUint64(out[width+8:], 0)
		}
		for i := done; i < width; i++ {
			v := flags[from+i] & mask[from+i]
			out[i] = (v | v>>1) & 1
			any |= uint64(out[i])
		}
		if any != 0 {
			first, last = min(first, y), y
		}
	}
	if last < 0 {
		clear(solid)
		return 0
	}
	clear(solid[:first*width])
	clear(solid[(last+1)*width:])
	count := 0
	for y := first; y <= last; y++ {
		at, row := 8+(y+1)*d.pitch, solid[y*width:min(y*width+wide, n)]
		done, found := despeckleWide(d.ones[at-d.pitch-1:at+d.pitch+wide+1], d.pitch, row) // of the next row, what is written is 0
		count += found
		if done >= width {
			continue
		}
		row = row[:width]
		clear(row[done:])
		mid := d.ones[8+(y+1)*d.pitch:]
		up, down := d.ones[8+y*d.pitch-1:], d.ones[8+(y+2)*d.pitch-1:]
		here := d.ones[8+(y+1)*d.pitch-1:]
		for x := done; x < width; x += 8 {
			m := binary.LittleEndian.Uint64(mid[x:])
			if m == 0 {
				continue
			}
			s := columns(up[x:]) + columns(here[x:]) + columns(down[x:])
			s = (s + (128-SpeckleNeighbours)*low) & high >> 7 & m
			count += int(s * low >> 56)
			if x+8 <= width {
				binary.LittleEndian.PutUint64(row[x:], s)
				continue
			}
			for i := x; i < width; i++ {
				row[i] = byte(s)
				s >>= 8
			}
		}
	}
	return count
}

// columns is for each of eight cells the sum of the cell, the one before and the one after; row begins with the one before.
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

// AnySet tells whether any byte of row is not zero.
func AnySet(row []byte) bool {
	for len(row) >= 8 {
		if binary.LittleEndian.Uint64(row) != 0 {
			return true
		}
		row = row[8:]
	}
	for _, v := range row {
		if v != 0 {
			return true
		}
	}
	return false
}
