package contour

// The filters of thermal cameras, and of some others, lay a halo around what is much brighter or
// darker than the place: faint, of the other sign, fading out.
const (
	haloTimes = 2.5  // times as strong as the halo is what it surrounds, on the mean
	haloShare = 0.25 // of the part, that must be of the stronger sign
	haloEdge  = 0.7  // of the halo's mean, that the step at its outer border is at most
	haloReach = 3    // pixels to either side of the border, between which that step is
)

// unhalo takes the halo from the part in the queue, if it has one.
func (c *Contour) unhalo() {
	var sum, many [2]int
	for _, j := range c.queue {
		s := int(c.smooth[j])
		sign := s >> 15 & 1
		sum[sign] += max(s, -s)
		many[sign]++
	}
	weak := 0
	if sum[0]*many[1] > sum[1]*many[0] {
		weak = 1
	}
	strong := 1 - weak
	if many[weak] == 0 || float64(sum[strong]*many[weak]) < haloTimes*float64(sum[weak]*many[strong]) ||
		float64(many[strong]) < haloShare*float64(len(c.queue)) {
		return
	}
	w, h := c.width, c.height
	border, step := 0, 0
	for _, j := range c.queue {
		i := int(j)
		if int(c.smooth[i])>>15&1 != weak {
			continue
		}
		x, y := i%w, i/w
		for _, to := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
			u, v := x+to[0], y+to[1]
			if u < 0 || u >= w || v < 0 || v >= h || c.cand[v*w+u] != 0 {
				continue
			}
			u, v = x+haloReach*to[0], y+haloReach*to[1]
			s, t := x-haloReach*to[0], y-haloReach*to[1]
			if u < 0 || u >= w || v < 0 || v >= h || s < 0 || s >= w || t < 0 || t >= h || c.cand[v*w+u] != 0 ||
				int(c.smooth[t*w+s])>>15&1 != weak {
				continue
			}
			e := int(c.smooth[t*w+s]) - int(c.smooth[v*w+u])
			step += max(e, -e)
			border++
		}
	}
	if float64(step)*float64(many[weak]) > haloEdge*float64(border)*float64(sum[weak]) {
		return
	}
	for _, j := range c.queue {
		if int(c.smooth[j])>>15&1 == weak {
			c.cand[j] = 0
		}
	}
}
