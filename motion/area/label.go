package area

import (
	"math/bits"
	"slices"

	"vmsbridge/motion/plane"
)

// Finder joins cells into connected areas. It works on tiles of 2x2 cells, with all eight
// neighbours, so that gaps of a cell or two do not tear a thing apart.
type Finder struct {
	wide, high    int      // in cells
	width, height int      // in tiles
	words         int      // of 64 tiles, in a row
	from, to      int      // rows of tiles in which anything is solid or parked; to is exclusive
	tile          []uint16 // the labels of those in set, once laid; of others, anything
	laid          bool     // since the last Label
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

// Run is some tiles side by side, in row Y of tiles, from From to To, which is exclusive: all of
// them belong together.
type Run struct{ Y, From, To, label uint16 }

// Resize prepares for planes of width x height cells.
func (l *Finder) Resize(width, height int) {
	l.wide, l.high = width, height
	l.width, l.height = (width+1)/2, (height+1)/2
	l.tile = make([]uint16, l.width*l.height)
	l.words = (l.width + 63) / 64
	l.set, l.stands, l.near = make([]uint64, l.words*l.height), make([]uint64, l.words*l.height),
		make([]uint64, l.words*l.height)
	l.parent = make([]uint16, 0, l.width*l.height+1)
	l.number, l.counts = make([]int16, l.width*l.height+1), make([]int32, l.width*l.height+1)
	l.areas = make([]Area, 0, Most)
	l.runs = make([]Run, 0, (l.width+1)/2*l.height+l.words*l.height)
	l.stirs = make([]uint64, (width*height+63)/64)
	l.sums, l.there = make([][2]plane.Sums, Most), make([]bool, Most)
}

// Of is the number of the area that the cell belongs to, -1 without. It holds after Collect, for
// solid and parked cells. The first call after Collect takes longer: who visits all cells of an
// area goes through Runs.
func (l *Finder) Of(x, y int) int {
	if !l.laid {
		l.lay()
	}
	return int(l.number[l.tile[y/2*l.width+x/2]])
}

// Runs are all tiles in which a cell is solid or parked, row after row. They are valid until the
// next Label.
func (l *Finder) Runs() []Run { return l.runs }

// Cells are the columns and the rows of cells that a run covers, the last ones exclusive.
func (l *Finder) Cells(r Run) (left, right, top, bottom int) {
	return 2 * int(r.From), min(2*int(r.To), l.wide), 2 * int(r.Y), min(2*int(r.Y)+2, l.high)
}

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
func (l *Finder) Label(solid, parked []byte) {
	l.laid = false
	plane.Tiles(solid, parked, l.wide, l.high, l.set, l.stands)
	first, end := 0, len(l.set)
	for first < end && l.set[first] == 0 {
		first++
	}
	for first < end && l.set[end-1] == 0 {
		end--
	}
	l.from, l.to = first/l.words, (end+l.words-1)/l.words
	l.spread()
	l.parent, l.runs = append(l.parent[:0], 0), l.runs[:0]
	above := l.runs
	for y := l.from; y < l.to; y++ {
		first := len(l.runs)
		l.cut(y)
		l.connect(above, l.runs[first:])
		above = l.runs[first:]
	}
}

// cut takes the runs of a row of tiles into runs. One that crosses the border of two words is two
// runs.
func (l *Finder) cut(y int) {
	runs := l.runs
	for w, set := range l.set[y*l.words : (y+1)*l.words] {
		from, to := set&^(set<<1), set&^(set>>1) // the first and the last tiles of runs
		for ; from != 0; from, to = from&(from-1), to&(to-1) {
			runs = append(runs, Run{Y: uint16(y), From: uint16(w*64 + bits.TrailingZeros64(from)),
				To: uint16(w*64 + bits.TrailingZeros64(to) + 1)})
		}
	}
	l.runs = runs
}

// connect gives each run of a row the label of what it touches before it and among the runs of the
// row above, joined, or a new one.
func (l *Finder) connect(above, here []Run) {
	end := uint16(0) // of the run before
	label := uint16(0)
	for i := range here {
		r := &here[i]
		if r.From != end || i == 0 {
			label = 0
		}
		for len(above) > 0 && above[0].To < r.From {
			above = above[1:]
		}
		for k := range above {
			if above[k].From > r.To {
				break
			}
			label = l.meet(label, above[k].label)
		}
		if label == 0 {
			label = uint16(len(l.parent))
			l.parent = append(l.parent, label)
		}
		r.label, end = label, r.To
	}
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

// lay writes the labels of all runs into their tiles, for who asks for single ones.
func (l *Finder) lay() {
	for _, r := range l.runs {
		tiles := l.tile[int(r.Y)*l.width:][:l.width]
		for x := r.From; x < r.To; x++ {
			tiles[x] = r.label
		}
	}
	l.laid = true
}
