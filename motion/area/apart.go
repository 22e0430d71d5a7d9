package area

// Bounds is what a connected area of cells covers.
type Bounds struct {
	Rect
	Cells int
	X, Y  int // one of them
}

// Apart finds connected areas as a Finder does, but keeps apart what a single cell separates, and
// joins no corners: two cars side by side are two. Its zero value is ready. Not safe for concurrent
// use.
type Apart struct {
	strips []strip
	bounds []Bounds
}

// strip is some set cells side by side in row y; right is exclusive. Its root is the first strip of
// the area, whose place among the bounds is number, -1 before it has one.
type strip struct{ left, right, y, root, number int }

// Find returns what each area covers in a mask of width cells a row, in which 0 is none. The slice
// is valid until the next call.
func (a *Apart) Find(mask []byte, width int) []Bounds {
	a.strips, a.bounds = a.strips[:0], a.bounds[:0]
	above, here := 0, 0 // the first strips of the row above and of this one
	for y := 0; (y+1)*width <= len(mask); y++ {
		above, here = here, len(a.strips)
		a.cut(mask[y*width:(y+1)*width], y)
		for i, k := here, above; i < len(a.strips); i++ {
			for k < here && a.strips[k].right <= a.strips[i].left {
				k++
			}
			for j := k; j < here && a.strips[j].left < a.strips[i].right; j++ {
				a.join(i, j)
			}
		}
	}
	for i := range a.strips {
		a.add(&a.strips[i], &a.strips[a.root(i)])
	}
	return a.bounds
}

// cut appends the strips of a row.
func (a *Apart) cut(row []byte, y int) {
	for x := 0; x < len(row); x++ {
		if row[x] == 0 {
			continue
		}
		left := x
		for x < len(row) && row[x] != 0 {
			x++
		}
		a.strips = append(a.strips, strip{left, x, y, len(a.strips), -1})
	}
}

func (a *Apart) root(i int) int {
	for a.strips[i].root != i {
		i = a.strips[i].root
	}
	return i
}

func (a *Apart) join(i, j int) {
	i, j = a.root(i), a.root(j)
	a.strips[max(i, j)].root = min(i, j)
}

// add takes a strip into the bounds of its area.
func (a *Apart) add(s, root *strip) {
	if root.number < 0 {
		root.number = len(a.bounds)
		a.bounds = append(a.bounds, Bounds{Rect: NoRect, X: s.left, Y: s.y})
	}
	b := &a.bounds[root.number]
	b.Rect = b.Union(Rect{s.left, s.y, s.right, s.y + 1})
	b.Cells += s.right - s.left
}
