package area

// Rect is a box in cells; Right and Bottom are exclusive.
type Rect struct{ Left, Top, Right, Bottom int }

// NoRect is empty, and becomes what is added to it.
var NoRect = Rect{Left: 1 << 30, Top: 1 << 30, Right: -1, Bottom: -1}

// Empty tells whether there is no cell in the box.
func (r Rect) Empty() bool { return r.Right <= r.Left || r.Bottom <= r.Top }

// Add makes the box large enough for a cell.
func (r *Rect) Add(x, y int) {
	r.Left, r.Top = min(r.Left, x), min(r.Top, y)
	r.Right, r.Bottom = max(r.Right, x+1), max(r.Bottom, y+1)
}

// Union is the least box around both.
func (r Rect) Union(o Rect) Rect {
	return Rect{min(r.Left, o.Left), min(r.Top, o.Top), max(r.Right, o.Right), max(r.Bottom, o.Bottom)}
}

// Apart is how far two boxes are apart, in cells (0 when they overlap), and how far they may be to
// be the same thing: a fast thing is seen as far away as it is large.
func (r Rect) Apart(o Rect) (gap, reach int) {
	dx := max(0, r.Left-o.Right, o.Left-r.Right)
	dy := max(0, r.Top-o.Bottom, o.Top-r.Bottom)
	size := max(min(r.Right-r.Left, r.Bottom-r.Top), min(o.Right-o.Left, o.Bottom-o.Top))
	return max(dx, dy), 3 + size
}
