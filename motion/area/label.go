package area

import (
	"math/bits"
	"slices"

	"vmsbridge/motion/plane"
)

// Finder joins cells into connected areas. It works on tiles of 2x2 cells, with all eight neighbours, so that gaps of a cell or two do
// not tear a thing apart.
type Finder struct {
	width, height int      // in tiles
	words         int      // of 64 tiles, in a row
	from, to      int      // rows of tiles in which anything is solid or parked; to is exclusive
	tile          []uint16 // the labels of those in set; of others, anything
	set           []uint64 // a bit for each tile in which a cell is solid or parked
	stands        []uint64 // a bit for each tile in which a cell is parked
	near          []uint64 // a bit for each tile that is parked, and for those around
	runs          []Run    // of tiles of set, row after row
	parent        []uint16
	counts        []int32 // of each label: see count
	number        []int16 // area of a root label, -1 without
	areas         []Area
	stirs         []uint64        // a bit for each cell, from the first row with anything on: see plane.Stirs
	sums          [][2]plane.Sums // of each area: away from where something stands, and there
	there         []bool          // of each area: whether it has any of the latter
}

// Run is some tiles side by side, in row Y of tiles, from From to To, which is exclusive: all of them belong together.
type Run struct{ Y, From, To, label uint16 }

// Cells are the columns and the rows of cells that the run covers, the last ones exclusive, in a picture of width x height cells.
func (r Run) Cells(width, height int) (left, right, top, bottom int) {
	return 2 * int(r.From), min(2*int(r.To), width), 2 * int(r.Y), min(2*int(r.Y)+2, height)
}

// Resize prepares for planes of width x height cells.
func (l *Finder) Resize(width, height int) {
	l.width, l.height = (width+1)/2, (height+1)/2
	l.tile = make([]uint16, l.width*l.height)
	l.words = (l.width + 63) / 64
	l.set, l.stands, l.near = make([]uint64, l.words*l.height), make([]uint64, l.words*l.height), make([]uint64, l.words*l.height)
	l.parent = make([]uint16, 0, l.width*l.height+1)
	l.number, l.counts = make([]int16, l.width*l.height+1), make([]int32, l.width*l.height+1)
	l.areas = make([]Area, 0, Most)
	l.runs = make([]Run, 0, (l.width+1)/2*l.height+l.words*l.height)
	l.stirs = make([]uint64, (width*height+63)/64)
	l.sums, l.there = make([][2]plane.Sums, Most), make([]bool, Most)
}

// Of is the number of the area that the cell belongs to, -1 without. It holds after Collect, for solid and parked cells.
func (l *Finder) Of(x, y int) int { return int(l.number[l.tile[y/2*l.width+x/2]]) }

// Runs are all tiles in which a cell is solid or parked, row after row. They are valid until the next Label.
func (l *Finder) Runs() []Run { return l.runs }

// OfRun is the number of the area that a run belongs to, -1 without. It holds after Collect.
func (l *Finder) OfRun(r Run) int { return int(l.number[r.label]) }

// RunsFrom are those of Runs that have cells in row y or below.
func (l *Finder) RunsFrom(y int) []Run {
	first, _ := slices.BinarySearchFunc(l.runs, y/2, func(r Run, row int) int { return int(r.Y) - row })
	return l.runs[first:]
}

func (l *Finder) root(a uint16) uint16 {
	for l.parent[a] != a {
		l.parent[a] = l.parent[l.parent[a]]
		a = l.parent[a]
	}
	return a
}

func (l *Finder) join(a, b uint16) uint16 {
	a, b = l.root(a), l.root(b)
	if a > b {
		a, b = b, a
	}
	l.parent[b] = a
	return a
}

// Label numbers the connected tiles in which a cell is solid (1, not 0) or parked (not 0).
func (l *Finder) Label(solid, parked []byte, width, height int) {
	l.from, l.to = l.height, 0
	for y := range l.height {
		first, rows, row := 2*y*width, min(2, height-2*y), y*l.words
		set := l.set[row : row+l.words]
		plane.Tiles(solid[first:], parked[first:], width, rows, set, l.stands[row:row+l.words])
		for _, v := range set {
			if v != 0 {
				l.from, l.to = min(l.from, y), y+1
			}
		}
	}
	l.spread()
	l.parent, l.runs = append(l.parent[:0], 0), l.runs[:0]
	above, here := 0, 0 // where the runs of the row above, and of this one, begin
	for y := l.from; y < l.to; y++ {
		above, here = here, len(l.runs)
		for w, set := range l.set[y*l.words : (y+1)*l.words] {
			for set != 0 {
				bit := bits.TrailingZeros64(set)
				n := bits.TrailingZeros64(^(set >> bit))
				set &^= (1<<n - 1) << bit
				l.connect(Run{Y: uint16(y), From: uint16(w*64 + bit), To: uint16(w*64 + bit + n)}, &above, here)
			}
		}
	}
}

// connect gives a run the label of what it touches before it and above, joined, or a new one. The runs of the row above are those from above to here; those that end
// before the run are passed over.
func (l *Finder) connect(r Run, above *int, here int) {
	if n := len(l.runs); n > here && l.runs[n-1].To == r.From { // across the border of two words
		r.label = l.runs[n-1].label
	}
	for *above < here && l.runs[*above].To < r.From {
		*above++
	}
	for i := *above; i < here && l.runs[i].From <= r.To; i++ {
		r.label = l.meet(r.label, l.runs[i].label)
	}
	if r.label == 0 {
		r.label = uint16(len(l.parent))
		l.parent = append(l.parent, r.label)
	}
	// Four at a time: what is written beyond the run is of no tile, or of one whose label is still to come.
	tiles := l.tile[int(r.Y)*l.width : (int(r.Y)+1)*l.width]
	for i := int(r.From); i < int(r.To); i += 4 {
		if i+4 > len(tiles) {
			for ; i < len(tiles); i++ {
				tiles[i] = r.label
			}
			break
		}
		tiles[i], tiles[i+1], tiles[i+2], tiles[i+3] = r.label, r.label, r.label, r.label
	}
	l.runs = append(l.runs, r)
}

// meet joins two labels of which either may be none.
func (l *Finder) meet(a, b uint16) uint16 {
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
func (l *Finder) spread() {
	clear(l.near)
	for y := l.from; y < l.to; y++ {
		above, below := max(0, y-1)*l.words, min(l.height-1, y+1)*l.words
		for w := range l.words {
			stands, near := l.stands[y*l.words+w], &l.near[y*l.words+w]
			for left := stands &^ *near; left != 0; left = stands &^ *near {
				bit := bits.TrailingZeros64(left)
				around := uint64(3)
				if bit > 0 {
					around = 7 << (bit - 1)
				} else if w > 0 {
					l.reach(above, below, y, w-1, 1<<63)
				}
				if bit == 63 && w+1 < l.words {
					l.reach(above, below, y, w+1, 1)
				}
				if x := w*64 + bit; x+1 == l.width {
					around = around << (63 - bit) >> (63 - bit)
				}
				l.reach(above, below, y, w, around)
			}
		}
	}
}

// reach sets bits of near in word w of row y, and of the rows above and below it, which begin at words.
func (l *Finder) reach(above, below, y, w int, around uint64) {
	l.near[above+w] |= around
	l.near[below+w] |= around
	l.near[y*l.words+w] |= around
}
