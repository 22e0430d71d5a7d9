package pipeline

import (
	"slices"

	"vmsbridge/agent/codec"
)

const (
	viewCell    = 4   // pixels of the reduced luma that a cell is wide and high
	viewLight   = 2   // grey levels by which the picture as a whole may differ
	viewOutlies = 1.5 // times the usual largest difference, that is none of noise
	viewLearns  = 16  // keyframes whose largest differences are remembered
	viewEnough  = 4   // of them, before keyframes are compared
)

// viewScales are the squares that are compared, small and strong things in small ones, faint and
// large ones in large ones: the side in cells, the distance from one to the next, and the grey
// levels from which and up to which a mean may count as different.
var viewScales = [...]struct {
	side, step  int
	least, most float64
}{{1, 1, 3, 9}, {2, 1, 2, 5}, {4, 2, 1.5, 3}}

// sameView compares keyframes by the means of squares. What noise makes of them is learned. Its
// zero value has seen none.
type sameView struct {
	width, height int // in cells
	cells, before []int16
	differ        []int16                              // what cells are more than before
	columns       []int                                // scratch of a row
	apart         [len(viewScales)]float64             // grey levels, the most, of the newest two
	usual         [len(viewScales)][viewLearns]float64 // of those of quiet groups
	known         int
	bright        bool // the picture as a whole became brighter or darker
}

// take takes a keyframe and tells whether it shows the same as the one before.
func (v *sameView) take(p codec.Picture) bool {
	w, h := p.LumaWidth/viewCell, p.LumaHeight/viewCell
	if w != v.width || h != v.height || len(v.cells) == 0 {
		*v = sameView{width: w, height: h, cells: make([]int16, w*h), before: make([]int16, w*h),
			differ: make([]int16, w*h), columns: make([]int, w)}
		v.measure(p)
		return false
	}
	v.cells, v.before = v.before, v.cells
	v.measure(p)
	v.compare()
	if v.known < viewEnough || v.bright {
		return false
	}
	for i, s := range viewScales {
		if limit := v.limit(i); v.apart[i] > limit || limit > s.most {
			return false
		}
	}
	return true
}

// steady tells whether quiet keyframes are alike enough for anything to show.
func (v *sameView) steady() bool {
	for i, s := range viewScales {
		if v.limit(i) > s.most {
			return false
		}
	}
	return true
}

// limit is how far apart a scale's squares may be.
func (v *sameView) limit(scale int) float64 {
	list := v.usual[scale][:min(v.known, viewLearns)]
	return max(viewScales[scale].least, viewOutlies*median(slices.Clone(list)))
}

// learn takes what was compared last for the noise of a quiet scene.
func (v *sameView) learn() {
	if v.bright || v.width == 0 {
		return
	}
	for i := range viewScales {
		v.usual[i][v.known%viewLearns] = v.apart[i]
	}
	v.known++
}

// back forgets the newest keyframe.
func (v *sameView) back() { v.cells, v.before = v.before, v.cells }

func (v *sameView) measure(p codec.Picture) {
	for y := range v.height {
		row := v.cells[y*v.width : (y+1)*v.width]
		clear(row)
		for line := range viewCell {
			pixels := p.Luma[(y*viewCell+line)*p.LumaWidth:][:v.width*viewCell]
			for x := range row {
				q := pixels[x*viewCell : x*viewCell+viewCell]
				row[x] += int16(q[0]) + int16(q[1]) + int16(q[2]) + int16(q[3])
			}
		}
	}
}

func (v *sameView) compare() {
	total := 0
	for i, c := range v.cells {
		d := c - v.before[i]
		v.differ[i] = d
		total += int(d)
	}
	shift := total / len(v.cells)
	v.bright = abs(shift) > viewLight*viewCell*viewCell
	for i, s := range viewScales {
		low, high := shift*s.side*s.side, shift*s.side*s.side
		usual := low
		for y := 0; y+s.side <= v.height; y += s.step {
			clear(v.columns)
			for line := range s.side {
				for x, d := range v.differ[(y+line)*v.width:][:len(v.columns)] {
					v.columns[x] += int(d)
				}
			}
			for x := 0; x+s.side <= v.width; x += s.step {
				sum := 0
				for _, c := range v.columns[x : x+s.side] {
					sum += c
				}
				low, high = min(low, sum), max(high, sum)
			}
		}
		v.apart[i] = float64(max(high-usual, usual-low)) / float64(s.side*s.side*viewCell*viewCell)
	}
}

func abs(v int) int { return max(v, -v) }
