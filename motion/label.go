package motion

import "vmsbridge/motion/plane"

// labeler joins cells into connected areas. It works on tiles of 2x2 cells, with all eight neighbours, so that gaps of a cell or two do
// not tear a thing apart.
type labeler struct {
	width, height int // in tiles
	from, to      int // rows of cells in which anything is solid or parked; to is exclusive
	tile          []uint16
	near          []uint8 // 1 where a tile or one beside it is the place of something that stands
	parent        []uint16
	number        []int16 // object of a root label, -1 without
	objects       []object
}

func (l *labeler) resize(g grid) {
	l.width, l.height = (g.width+1)/2, (g.height+1)/2
	l.tile = make([]uint16, l.width*l.height)
	l.near = make([]uint8, l.width*l.height)
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

// label numbers the connected tiles in which a cell is solid or parked.
func (l *labeler) label(g grid, solid, parked []byte) {
	clear(l.tile)
	clear(l.near)
	l.from, l.to = g.height, 0
	for y := range g.height {
		if !plane.AnySet(solid[y*g.width:(y+1)*g.width]) && !plane.AnySet(parked[y*g.width:(y+1)*g.width]) {
			continue
		}
		l.from, l.to = min(l.from, y), y+1
		row, out := y*g.width, l.tile[y/2*l.width:]
		near := l.near[y/2*l.width:]
		for x := range g.width {
			if solid[row+x] != 0 {
				out[x/2] = 1
			}
			if parked[row+x] != 0 {
				out[x/2], near[x/2] = 1, 2
			}
		}
	}
	l.spread()
	l.parent = append(l.parent[:0], 0)
	for y := l.from / 2; y < (l.to+1)/2; y++ {
		for x := range l.width {
			i := y*l.width + x
			if l.tile[i] == 0 {
				continue
			}
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
	}
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

// spread marks the tiles beside the places of standing things (marked 2) with 1.
func (l *labeler) spread() {
	for y := l.from / 2; y < (l.to+1)/2; y++ {
		for x := range l.width {
			if l.near[y*l.width+x] != 2 {
				continue
			}
			for j := max(0, y-1); j <= min(l.height-1, y+1); j++ {
				for i := max(0, x-1); i <= min(l.width-1, x+1); i++ {
					l.near[j*l.width+i] |= 1
				}
			}
		}
	}
}
