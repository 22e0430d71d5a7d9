package motion

import "encoding/binary"

// speckleNeighbours is how many of the 3x3 cells around a flagged one, itself included, must be flagged for it to stay.
const speckleNeighbours = 4

// despecklePlain is the reference: solid[i] becomes 1 where a cell has any flag, is not masked, and enough of its neighbours
// are so too. It returns how many are solid.
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
			if on(x, y) == 1 && sum >= speckleNeighbours {
				solid[y*width+x] = 1
				count++
			}
		}
	}
	return count
}

// despeckler is the fast despecklePlain: eight cells in a word, and rows without a flag are only cleared.
type despeckler struct {
	ones []byte // 1 for each flagged cell, with a row of zeroes above and below
	sums []byte // a row's sums of three rows, one zero before and eight after
}

func (d *despeckler) resize(width, height int) {
	d.ones = make([]byte, width*(height+2)+8)
	d.sums = make([]byte, width+1+16)
}

func (d *despeckler) run(flags, mask []byte, width, height int, solid []byte) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	n := width * height
	ones := d.ones[width:]
	any := uint64(0)
	i := 0
	for ; i+8 <= n; i += 8 {
		f := binary.LittleEndian.Uint64(flags[i:]) & binary.LittleEndian.Uint64(mask[i:])
		f = (f | f>>1) & low
		any |= f
		binary.LittleEndian.PutUint64(ones[i:], f)
	}
	for ; i < n; i++ {
		f := flags[i] & mask[i]
		ones[i] = (f | f>>1) & 1
		any |= uint64(ones[i])
	}
	clear(ones[n : n+width])
	clear(solid[:n])
	if any == 0 {
		return 0
	}
	count := 0
	sums := d.sums
	for y := range height {
		up, mid, down := d.ones[y*width:][:width+8], d.ones[(y+1)*width:][:width], d.ones[(y+2)*width:]
		row := solid[y*width:][:width]
		if !anySet(mid) {
			continue
		}
		for x := range width {
			sums[x+1] = up[x] + mid[x] + down[x]
		}
		sums[width+1] = 0
		x := 0
		for ; x+8 <= width; x += 8 {
			s := binary.LittleEndian.Uint64(sums[x:]) + binary.LittleEndian.Uint64(sums[x+1:]) + binary.LittleEndian.Uint64(sums[x+2:])
			s = (s + (128-speckleNeighbours)*low) & high >> 7
			s &= binary.LittleEndian.Uint64(mid[x:])
			binary.LittleEndian.PutUint64(row[x:], s)
			count += int(s * low >> 56)
		}
		for ; x < width; x++ {
			if mid[x] == 1 && sums[x]+sums[x+1]+sums[x+2] >= speckleNeighbours {
				row[x] = 1
				count++
			}
		}
	}
	return count
}

// anySet tells whether any byte of row is not zero.
func anySet(row []byte) bool {
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
