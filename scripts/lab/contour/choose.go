package contour

// Thresholds, 1/16 grey levels, and in quarters of the mean difference of a still pixel.
const (
	leastLevel = 5 * 16
	timesDev   = 14
)

// choose sets the candidates: what differs clearly, less so the closer it is to what the detector
// marks; then the majority of 5x5.
func (c *Contour) choose(p Picture) {
	clear(c.cand)
	clear(c.lines)
	w, steady := c.width, p.steady()
	c.trail = c.trail[:0]
	for y := c.top; y < c.bottom; y++ {
		prior, cand := c.prior[y*w:][c.left:c.right], c.cand[y*w:][c.left:c.right]
		former := c.former[y*w:][c.left:c.right]
		dev, raw, smooth := c.dev[y*w:][c.left:c.right], c.raw[y*w:][c.left:c.right], c.smooth[y*w:][c.left:c.right]
		for x := 0; x < len(prior); x++ {
			how := prior[x]
			if how == priorNone {
				if x+blank <= len(prior) && allZero(prior[x:x+blank]) {
					x += blank - 1
				}
				continue
			}
			limit := max(leastLevel, int32(dev[x])*timesDev>>6)
			switch how {
			case priorNear:
				limit += limit / 4
			case priorSeed:
				limit -= limit / 4
			case priorInside:
				limit /= 2
			}
			d, s := int32(raw[x]), int32(smooth[x])
			if s < 0 {
				d, s = -d, -s
			}
			if s > limit && 2*d > limit {
				cand[x] = 1
				if former[x] != 0 && (former[x]&formerLit != 0 || how < priorSeed) && steady &&
					c.returns(p, c.left+x, y, limit) {
					cand[x] = 0
					c.trail = append(c.trail, int32(y*w+c.left+x))
				}
			}
		}
	}
	for _, i := range c.trail {
		c.recall(int(i))
	}
	c.unshade(p)
	for y := c.top; y < c.bottom; y++ {
		prior, cand, shade := c.prior[y*w:][c.left:c.right], c.cand[y*w:][c.left:c.right], c.shade[y*w:][c.left:c.right]
		for x, v := range cand {
			if v == 0 {
				shade[x] = 0
				continue
			}
			if v == seemsShade && prior[x] == priorNear { // the detector knows better
				v = 0
			}
			shade[x] = v >> 1 & 1
			cand[x] = v&1 | v>>1&1
		}
	}
	c.count(c.cand, 2, c.rect, func(y int, sums []int32) {
		lines, rows := c.lines[y*w:][c.left:c.right], c.rowsAround(y, 2)
		for x, sum := range sums[:len(lines)] {
			if 2*sum > rows*c.columnsAround(c.left+x, 2) {
				lines[x] = 1
			}
		}
	})
	c.cand, c.lines = c.lines, c.cand
}
