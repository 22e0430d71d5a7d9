package motion

import (
	"encoding/binary"
	"math/bits"
)

// labeler joins cells into connected areas. It works on tiles of 2x2 cells, with all eight neighbours, so that gaps of a cell or two do
// not tear a thing apart.
type labeler struct {
	width, height int // in tiles
	words         int // of 64 tiles, in a row
	from, to      int // rows of tiles in which anything is solid or parked; to is exclusive
	tile          []uint16
	set           []uint64 // a bit for each tile in which a cell is solid or parked
	stands        []uint64 // a bit for each tile in which a cell is parked
	near          []uint64 // a bit for each tile that is parked, and for those around
	parent        []uint16
	number        []int16 // object of a root label, -1 without
	objects       []object
}

func (l *labeler) resize(g grid) {
	l.width, l.height = (g.width+1)/2, (g.height+1)/2
	l.tile = make([]uint16, l.width*l.height)
	l.words = (l.width + 63) / 64
	l.set, l.stands, l.near = make([]uint64, l.words*l.height), make([]uint64, l.words*l.height), make([]uint64, l.words*l.height)
	l.parent = make([]uint16, 0, l.width*l.height+1)
	l.number = make([]int16, l.width*l.height+1)
	l.objects = make([]object, 0, maxObjects)
}

// of is the number of the object that the cell belongs to, -1 without. It holds after collect, for solid and parked cells.
func (l *labeler) of(x, y int) int { return int(l.number[l.tile[y/2*l.width+x/2]]) }

func (l *labeler) root(a uint16) uint16 {
	for l.parent[a] != a {
		l.parent[a] = l.parent[l.parent[a]]
		a = l.parent[a]
	}
	return a
}

func (l *labeler) join(a, b uint16) uint16 {
	a, b = l.root(a), l.root(b)
	if a > b {
		a, b = b, a
	}
	l.parent[b] = a
	return a
}

// label numbers the connected tiles in which a cell is solid (1, not 0) or parked (not 0).
func (l *labeler) label(g grid, solid, parked []byte) {
	clear(l.tile)
	clear(l.set)
	clear(l.stands)
	for y := range g.height {
		row := y / 2 * l.words
		l.mark(solid[y*g.width:(y+1)*g.width], parked[y*g.width:(y+1)*g.width], l.set[row:row+l.words], l.stands[row:row+l.words])
	}
	l.from, l.to = l.height, 0
	for y := range l.height {
		for _, v := range l.set[y*l.words : (y+1)*l.words] {
			if v != 0 {
				l.from, l.to = min(l.from, y), y+1
			}
		}
	}
	l.spread()
	l.parent = append(l.parent[:0], 0)
	for y := l.from; y < l.to; y++ {
		for w, set := range l.set[y*l.words : (y+1)*l.words] {
			for ; set != 0; set &= set - 1 {
				l.connect(w*64+bits.TrailingZeros64(set), y)
			}
		}
	}
}

// connect gives tile x, y the label of its neighbours above and before, joined, or a new one.
func (l *labeler) connect(x, y int) {
	i := y*l.width + x
	at := uint16(0)
	if x > 0 {
		at = l.tile[i-1]
	}
	if y > 0 {
		up := i - l.width
		if v := l.tile[up]; v != 0 {
			at = l.meet(at, v) // joins the ones beside it, too
		} else {
			if x > 0 {
				at = l.meet(at, l.tile[up-1])
			}
			if x+1 < l.width {
				at = l.meet(at, l.tile[up+1])
			}
		}
	}
	if at == 0 {
		at = uint16(len(l.parent))
		l.parent = append(l.parent, at)
	}
	l.tile[i] = at
}

// mark sets the bits of the tiles of one row of cells, eight cells at a time.
func (l *labeler) mark(solid, parked []byte, set, stands []uint64) {
	x := 0
	for ; len(solid) >= 8 && len(parked) >= 8; x += 8 {
		s, p := binary.LittleEndian.Uint64(solid), binary.LittleEndian.Uint64(parked)
		if s|p != 0 {
			p = pairs(p)
			stands[x/128] |= p << (x / 2 % 64)
			set[x/128] |= (pairs(s) | p) << (x / 2 % 64)
		}
		solid, parked = solid[8:], parked[8:]
	}
	for i, s := range solid {
		bit := uint64(1) << ((x + i) / 2 % 64)
		if parked[i] != 0 {
			stands[(x+i)/128] |= bit
		}
		if s|parked[i] != 0 {
			set[(x+i)/128] |= bit
		}
	}
}

// pairs has a bit for each two bytes of v, set unless both are zero.
func pairs(v uint64) uint64 {
	const low = 0x7f7f7f7f7f7f7f7f
	v = (v&low + low) | v // the highest bit of each byte that is not zero
	v = (v>>7 | v>>15) & 0x0001000100010001
	return v * 0x0001000200040008 >> 48 & 15
}

// meet joins two labels of which either may be none.
func (l *labeler) meet(a, b uint16) uint16 {
	switch {
	case a == 0 || a == b:
		return b
	case b == 0:
		return a
	}
	return l.join(a, b)
}

// spread fills near. A tile that stands and is not yet near takes the eight around it with it, row after row; so the border of a large
// place is one tile wide at its left and upper side, and at most that at the others.
func (l *labeler) spread() {
	clear(l.near)
	for y := l.from; y < l.to; y++ {
		for w := range l.words {
			for {
				left := l.stands[y*l.words+w] &^ l.near[y*l.words+w]
				if left == 0 {
					break
				}
				x := w*64 + bits.TrailingZeros64(left)
				for j := max(0, y-1); j <= min(l.height-1, y+1); j++ {
					for i := max(0, x-1); i <= min(l.width-1, x+1); i++ {
						l.near[j*l.words+i/64] |= 1 << (i % 64)
					}
				}
			}
		}
	}
}
