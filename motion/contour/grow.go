package contour

const (
	fillShare  = 12     // part of a thing, at most, that a hole in it may be to be filled
	leastShare = 10_000 // part of the picture that anything must be to be marked
	crumbShare = 40     // part of the largest thing that another must be, or
	crumbMost  = 1500   // part of the picture
)

// grow marks the parts of the candidates that the detector marks, or that were marked before.
func (c *Contour) grow(seeds []byte) {
	clear(c.marks)
	least, largest := max(6, c.width*c.height/leastShare), 0
	from, to := c.top*c.width, c.bottom*c.width
	for i := from; i < to; i++ {
		if c.cand[i] != 1 {
			continue
		}
		c.flood(i, c.cand, 1, 2)
		known := 0
		for _, j := range c.queue {
			if seeds[j] != 0 || c.lately[j] != 0 {
				known++
			}
		}
		if len(c.queue) < least || 6*known < len(c.queue) {
			for _, j := range c.queue {
				c.cand[j] = 0
			}
			continue
		}
		largest = max(largest, len(c.queue))
		c.trim()
	}
	crumb := min(largest/crumbShare, c.width*c.height/crumbMost)
	for i := from; i < to; i++ {
		if c.cand[i] != 2 {
			continue
		}
		c.flood(i, c.cand, 2, 3)
		if len(c.queue) < max(least, crumb) {
			continue
		}
		for _, j := range c.queue {
			c.marks[j] = 1
		}
	}
	c.fill()
}

// flood visits all that is connected, by the eight around each, and has the same value; it becomes another one. The pixels are in the queue then.
func (c *Contour) flood(first int, in []byte, from, to byte) {
	w, h := c.width, c.height
	c.queue = append(c.queue[:0], int32(first))
	in[first] = to
	for at := 0; at < len(c.queue); at++ {
		i := int(c.queue[at])
		x, y := i%w, i/w
		for v := max(0, y-1); v <= min(h-1, y+1); v++ {
			for u := max(0, x-1); u <= min(w-1, x+1); u++ {
				if j := v*w + u; in[j] == from {
					in[j] = to
					c.queue = append(c.queue, int32(j))
				}
			}
		}
	}
}

// fill closes small holes of the marks: what is not marked, is small, and does not reach the border of the box around all that is.
func (c *Contour) fill() {
	copy(c.cand, c.marks)
	left, top, right, bottom := c.box()
	marked := 0
	for y := top; y < bottom; y++ {
		for _, v := range c.cand[y*c.width+left : y*c.width+right] {
			marked += int(v)
		}
	}
	most := min(marked/fillShare, c.width*c.height/200)
	// What is around the box belongs to no hole.
	for y := max(0, top-1); y < min(c.height, bottom+1); y++ {
		for x := max(0, left-1); x < min(c.width, right+1); x++ {
			if x < left || x >= right || y < top || y >= bottom {
				c.cand[y*c.width+x] = 2
			}
		}
	}
	for y := top; y < bottom; y++ {
		for i := y*c.width + left; i < y*c.width+right; i++ {
			if c.cand[i] != 0 {
				continue
			}
			c.flood(i, c.cand, 0, 2)
			if len(c.queue) > most || c.open(left, top, right, bottom) {
				continue
			}
			for _, j := range c.queue {
				c.marks[j] = 1
			}
		}
	}
}

// open tells whether what is in the queue reaches the border of a box.
func (c *Contour) open(left, top, right, bottom int) bool {
	for _, j := range c.queue {
		if x, y := int(j)%c.width, int(j)/c.width; x <= left || y <= top || x+1 >= right || y+1 >= bottom {
			return true
		}
	}
	return false
}

// Of a thing, what may be a shadow is one where it lies at the feet.
const (
	feetFrom  = 0.85 // of the height of what is surely no shadow
	legsFrom  = 0.7  // the same, for what is beside
	sureLeast = 0.5  // of all of it, that must be sure
)

// trim takes from the part in the queue what may be a shadow and lies where shadows do: at the feet of what is none, or beside these.
func (c *Contour) trim() {
	w := c.width
	sure, left, top, right, bottom := 0, w, c.height, 0, 0
	for _, j := range c.queue {
		if c.shade[j] == 0 {
			x, y := int(j)%w, int(j)/w
			sure++
			left, right, top, bottom = min(left, x), max(right, x+1), min(top, y), max(bottom, y+1)
		}
	}
	if sure == len(c.queue) || float64(sure) < sureLeast*float64(len(c.queue)) {
		return
	}
	feet, legs := top+int(feetFrom*float64(bottom-top)), top+int(legsFrom*float64(bottom-top))
	for _, j := range c.queue {
		if x, y := int(j)%w, int(j)/w; c.shade[j] != 0 && (y >= feet || y >= legs && (x < left || x >= right)) {
			c.cand[j] = 0
		}
	}
}
