package contour

import "bytes"

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

// near sets prior, and the rows in which it is something.
func (c *Contour) near(seeds []byte) {
	w, reach := c.width, max(2, c.width/reachShare)
	c.limit(seeds, reach)
	blind := c.time.Before(c.blindTill)
	clear(c.prior)
	clear(c.cand)
	from, to := c.top*w, c.bottom*w
	for i, s := range seeds[from:to] {
		i += from
		if c.lately[i] != 0 {
			c.prior[i] = priorMark
		}
		c.cand[i] = s & 1
	}
	c.count(reach, func(i, sum, _ int) {
		if sum > 0 && !blind {
			c.prior[i] = priorNear
		}
	})
	for i, s := range seeds[from:to] {
		if s != 0 && (!blind || c.lately[from+i] != 0) {
			c.prior[from+i] = priorSeed
		}
	}
	c.count(max(1, w/insideShare), func(i, sum, all int) {
		if sum == all && c.prior[i] == priorSeed {
			c.prior[i] = priorInside
		}
	})
}

// limit finds the rows in which anything is marked by the detector, or was lately, and some around them: mostly nothing is.
func (c *Contour) limit(seeds []byte, around int) {
	c.top, c.bottom = c.height, 0
	for y := range c.height {
		row := y * c.width
		if bytes.Count(seeds[row:row+c.width], []byte{0}) < c.width || bytes.Count(c.lately[row:row+c.width], []byte{0}) < c.width {
			c.top, c.bottom = min(c.top, y), y+1
		}
	}
	if c.top >= c.bottom {
		c.top, c.bottom = 0, 0
		return
	}
	c.top, c.bottom = max(0, c.top-around), min(c.height, c.bottom+around)
}

// count hands out, in the rows of limit, how many of the candidates in a square around each pixel there are, and how many there may be.
func (c *Contour) count(r int, each func(i, sum, all int)) {
	w, h := c.width, c.height
	if c.top >= c.bottom {
		return
	}
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
	for y := c.top - r - 1; y < c.top+r; y++ {
		add(y, 1)
	}
	for y := c.top; y < c.bottom; y++ {
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
	clear(c.cand)
	clear(c.lines)
	from, to := c.top*c.width, c.bottom*c.width
	for i := from; i < to; i++ {
		prior := c.prior[i]
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
	for i := from; i < to; i++ {
		v := c.cand[i]
		if v == seemsShade && c.prior[i] == priorNear { // the detector knows better
			v = 0
		}
		c.shade[i] = v >> 1 & 1
		c.cand[i] = v&1 | v>>1&1
	}
	c.count(2, func(i, sum, all int) {
		if 2*sum > all {
			c.lines[i] = 1
		}
	})
	c.cand, c.lines = c.lines, c.cand
}
