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
	c.divide(c.cand, 1, c.rect)
	for part := range c.parts {
		if c.size(part) < least {
			c.paint(part, c.cand, 0)
			continue
		}
		c.walk(part)
		known := 0
		for _, j := range c.queue {
			if seeds[j] != 0 || c.lately[j] != 0 {
				known++
			}
		}
		if 6*known < len(c.queue) {
			c.paint(part, c.cand, 0)
			continue
		}
		largest = max(largest, len(c.queue))
		c.trim()
		c.unhalo()
	}
	least = max(least, min(largest/crumbShare, c.width*c.height/crumbMost))
	c.divide(c.cand, 1, c.rect)
	for part := range c.parts {
		if c.size(part) >= least {
			c.paint(part, c.marks, 1)
		}
	}
	c.fill()
}

// fill closes small holes of the marks: what is not marked, is small, and does not reach the border
// of the box around all that is.
func (c *Contour) fill() {
	box, marked := c.box(c.marks)
	most := min(marked/fillShare, c.width*c.height/200)
	c.divide(c.marks, 0, box)
	for part := range c.parts {
		if c.size(part) <= most && !c.reaches(part, box) {
			c.paint(part, c.marks, 1)
		}
	}
}

// Of a thing, what may be a shadow is one where it lies at the feet.
const (
	feetFrom  = 0.85 // of the height of what is surely no shadow
	legsFrom  = 0.7  // the same, for what is beside
	sureLeast = 0.5  // of all of it, that must be sure
)

// trim takes from the part in the queue what may be a shadow and lies where shadows do: at the feet
// of what is none, or beside these.
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
