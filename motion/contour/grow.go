package contour

// fillShare is the part of a thing, at most, that a hole in it may be to be filled.
const fillShare = 12

// grow marks the parts of the candidates that the detector marks, or that were marked before.
func (c *Contour) grow(seeds []byte) {
	least := max(6, c.width*c.height/40_000)
	for i, v := range c.cand {
		if v != 1 {
			continue
		}
		c.flood(i, c.cand, 1, 2)
		known := 0
		for _, j := range c.queue {
			if seeds[j] != 0 || c.lately[j] != 0 {
				known++
			}
		}
		to := byte(3)
		if len(c.queue) < least || 6*known < len(c.queue) {
			to = 0
		}
		for _, j := range c.queue {
			c.cand[j] = to
		}
		if to != 0 {
			c.trim()
		}
	}
	for i, v := range c.cand {
		c.marks[i] = v & 1
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

// fill closes small holes of the marks.
func (c *Contour) fill() {
	marked := 0
	for _, v := range c.marks {
		marked += int(v)
	}
	if marked == 0 {
		return
	}
	// A part of what is not marked is a hole if it is small: everything around is not.
	copy(c.cand, c.marks)
	for i, v := range c.cand {
		if v != 0 {
			continue
		}
		c.flood(i, c.cand, 0, 2)
		if len(c.queue)*fillShare > marked || len(c.queue) > c.width*c.height/200 {
			continue
		}
		for _, j := range c.queue {
			c.marks[j] = 1
		}
	}
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
