package contour

// What becomes background at once may have been judged wrongly, or comes back: a lamp that is
// switched, a thing that only seemed to have left. So what was known of the pixel before is kept,
// and taken again when the picture shows it.

// formerShare is the part of the limit of a candidate by which a pixel may differ from what was
// known before.
const formerShare = 0.7

// The low bits of what was background before: one of them is set.
const (
	formerLit   = 1 // it may come back at any time
	formerThing = 2 // it seemed to be a thing that left: it comes back where the detector marks nothing
)

// forget makes background of marked pixels.
func (c *Contour) forget(p Picture, pixels []int32) {
	for _, j := range pixels {
		c.marks[j], c.held[j], c.lately[j] = 0, 0, 0
		c.renew(int(j), p.Luma[int(j)/c.width*p.Stride+int(j)%c.width])
	}
}

// renew makes background of what a pixel shows.
func (c *Contour) renew(i int, luma byte) {
	c.former[i] = c.back[i]&^formerThing | formerLit
	c.back[i] = uint16(luma) << 8
}

// returns tells whether a pixel at x, y, which differs from the background by more than a limit,
// and those beside it show what they showed before, and takes that again. All is in 1/16 grey
// levels.
func (c *Contour) returns(p Picture, x, y int, limit int32) bool {
	w := c.width
	limit = int32(formerShare * float64(limit))
	same := func(x, y int) bool {
		b := int32(c.former[y*w+x])
		d := int32(p.Luma[y*p.Stride+x])<<4 - b>>4
		return b != 0 && d < limit && d > -limit
	}
	if !same(x, y) || x == 0 || y == 0 || x+1 == w || y+1 == c.height {
		return false
	}
	n := 0
	for _, step := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
		if same(x+step[0], y+step[1]) {
			n++
		}
	}
	return n >= 3
}

// recall takes for background again what was so before.
func (c *Contour) recall(i int) {
	c.back[i], c.former[i] = c.former[i], c.back[i]&^formerThing|formerLit
}
