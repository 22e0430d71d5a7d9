package contour

// How close a pixel is to what the detector marks.
const (
	priorNone   = iota
	priorMark   // was marked lately
	priorNear   // is near a seed
	priorSeed   // is a seed
	priorInside // is a seed, and so are all around it
)

// Thresholds, 1/16 grey levels, and in quarters of the mean difference of a still pixel.
const (
	leastLevel  = 5 * 16
	timesDev    = 14
	reachShare  = 60 // of the width, that is reached beyond a seed
	insideShare = 80 // of the width, by which a pixel is inside
)

// near sets prior.
func (c *Contour) near(seeds []byte) {
	blind := c.time.Before(c.blindTill)
	for i, s := range seeds {
		v := byte(priorNone)
		if c.lately[i] != 0 {
			v = priorMark
		}
		c.prior[i] = v
		c.cand[i] = s & 1
	}
	c.count(max(2, c.width/reachShare), func(i, sum, _ int) {
		if sum > 0 && !blind {
			c.prior[i] = priorNear
		}
	})
	for i, s := range seeds {
		if s != 0 && (!blind || c.lately[i] != 0) {
			c.prior[i] = priorSeed
		}
	}
	c.count(max(1, c.width/insideShare), func(i, sum, all int) {
		if sum == all && c.prior[i] == priorSeed {
			c.prior[i] = priorInside
		}
	})
}

// count hands out how many of the candidates in a square around each pixel there are, and how many there may be.
func (c *Contour) count(r int, each func(i, sum, all int)) {
	w, h := c.width, c.height
	if cap(c.queue) < w {
		c.queue = make([]int32, 0, w)
	}
	columns := c.queue[:w]
	clear(columns)
	add := func(y int, by int32) {
		if y < 0 || y >= h {
			return
		}
		for x, v := range c.cand[y*w:][:w] {
			columns[x] += by * int32(v)
		}
	}
	for y := range r {
		add(y, 1)
	}
	for y := range h {
		add(y+r, 1)
		add(y-r-1, -1)
		rows := min(h, y+r+1) - max(0, y-r)
		sum := 0
		for x := range min(r, w) {
			sum += int(columns[x])
		}
		for x := range w {
			if x+r < w {
				sum += int(columns[x+r])
			}
			if x-r-1 >= 0 {
				sum -= int(columns[x-r-1])
			}
			each(y*w+x, sum, rows*(min(w, x+r+1)-max(0, x-r)))
		}
	}
}

// choose sets the candidates: what differs clearly, less so the closer it is to what the detector marks; then the majority of 5x5.
func (c *Contour) choose(p Picture) {
	for i, prior := range c.prior {
		c.cand[i] = 0
		if prior == priorNone {
			continue
		}
		limit := max(leastLevel, int32(c.dev[i])*timesDev>>6)
		switch prior {
		case priorNear:
			limit += limit / 4
		case priorSeed:
			limit -= limit / 4
		case priorInside:
			limit /= 2
		}
		d, s := int32(c.raw[i]), int32(c.smooth[i])
		if s < 0 {
			d, s = -d, -s
		}
		if s > limit && 2*d > limit {
			c.cand[i] = 1
		}
	}
	c.unshade(p)
	for i, v := range c.cand {
		c.shade[i] = v >> 1 & 1
		c.cand[i] = v&1 | v>>1&1
	}
	c.count(2, func(i, sum, all int) {
		c.lines[i] = 0
		if 2*sum > all {
			c.lines[i] = 1
		}
	})
	c.cand, c.lines = c.lines, c.cand
}
