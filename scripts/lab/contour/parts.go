package contour

import "bytes"

// run is what is of one value in one row without a gap: a piece of a part.
type run struct {
	row, from, to int32 // to is exclusive
	first         int32 // index of the first run of the part, or of one closer to it
	next          int32 // index of the part's next run; 0 is none
	last          int32 // of a first run: index of the part's last one
}

// rect is a part of the picture in pixels; right and bottom are exclusive.
type rect struct{ left, top, right, bottom int }

// divide finds the parts of what is of a value, 0 or 1, among the other, inside a rect: what is
// connected by the eight around each pixel. They are walked along by parts.
func (c *Contour) divide(in []byte, value byte, r rect) {
	c.runs = c.runs[:0]
	above, begin := 0, 0 // the runs of the row above
	for y := r.top; y < r.bottom; y++ {
		above, begin = begin, len(c.runs)
		row := in[y*c.width:][:r.right]
		for x := r.left; x < r.right; {
			skip := bytes.IndexByte(row[x:], value)
			if skip < 0 {
				break
			}
			from := x + skip
			to := bytes.IndexByte(row[from:], 1-value)
			if to < 0 {
				to = r.right - from
			}
			x = from + to
			c.runs = append(c.runs, run{row: int32(y), from: int32(from), to: int32(x), first: int32(len(c.runs)),
				last: int32(len(c.runs))})
		}
		c.connect(above, begin)
	}
}

// connect joins the runs from begin on with those of the row above, which go from above to begin.
func (c *Contour) connect(above, begin int) {
	for i := begin; i < len(c.runs) && above < begin; i++ {
		for c.runs[above].to < c.runs[i].from {
			if above++; above == begin {
				return
			}
		}
		for j := above; j < begin && c.runs[j].from <= c.runs[i].to; j++ {
			c.join(c.first(int32(j)), c.first(int32(i)))
		}
	}
}

// first is the index of the first run of a run's part.
func (c *Contour) first(i int32) int32 {
	for c.runs[i].first != i {
		c.runs[i].first = c.runs[c.runs[i].first].first
		i = c.runs[i].first
	}
	return i
}

// join makes one part of two, that are known by their first runs.
func (c *Contour) join(a, b int32) {
	if a == b {
		return
	}
	if b < a {
		a, b = b, a
	}
	c.runs[b].first = a
	c.runs[c.runs[a].last].next = b
	c.runs[a].last = c.runs[b].last
}

// parts goes through the parts that divide found, in the order of their first pixels: each is the
// index of its first run, for walk.
func (c *Contour) parts(yield func(part int32) bool) {
	for i := range c.runs {
		if c.runs[i].first == int32(i) && !yield(int32(i)) {
			return
		}
	}
}

// walk puts the pixels of a part into the queue.
func (c *Contour) walk(part int32) {
	c.queue = c.queue[:0]
	for i := part; ; i = c.runs[i].next {
		r := &c.runs[i]
		for x, at := r.from, r.row*int32(c.width); x < r.to; x++ {
			c.queue = append(c.queue, at+x)
		}
		if r.next == 0 {
			return
		}
	}
}

// size is how many pixels a part has.
func (c *Contour) size(part int32) int {
	n := int32(0)
	for i := part; ; i = c.runs[i].next {
		n += c.runs[i].to - c.runs[i].from
		if c.runs[i].next == 0 {
			return int(n)
		}
	}
}

// reaches tells whether a part touches the border of a rect from inside.
func (c *Contour) reaches(part int32, b rect) bool {
	for i := part; ; i = c.runs[i].next {
		r := &c.runs[i]
		if int(r.from) <= b.left || int(r.row) <= b.top || int(r.to) >= b.right || int(r.row)+1 >= b.bottom {
			return true
		}
		if r.next == 0 {
			return false
		}
	}
}

// paint sets the pixels of a part.
func (c *Contour) paint(part int32, out []byte, value byte) {
	for i := part; ; i = c.runs[i].next {
		r := &c.runs[i]
		line := out[int(r.row)*c.width:][r.from:r.to]
		for x := range line {
			line[x] = value
		}
		if r.next == 0 {
			return
		}
	}
}
