package contour

import (
	"math"
	"time"
)

const (
	keepFor    = 3000 // 1/10 s for which what stands there stays marked
	latelyFor  = 20   // 1/10 s for which a pixel that is no longer marked may be marked again
	ghostAfter = 3    // 1/10 s without a seed, after which a part may be what was left behind
	ghostReach = 3    // pixels at either side of a border that are compared
	// grey levels of an edge that count, at most: a painted line that goes through says nothing of
	// the rest
	ghostMost    = 20
	ghostTimes   = 3.0    // as much edge that only the background has as only the picture has
	lightAlike   = 0.9    // correlation from which a part is the same in another light
	lightTexture = 3.0    // grey levels of the background's own pattern, at least, for that
	changeLevels = 12     // grey levels by which a pixel is not what it was in the picture before
	leavesShare  = 0.05   // of a part's pixels, that must change where something leaves
	provenLevel  = 4 * 16 // 1/16 grey levels by which what is seen again differs from the background at most
	waveShare    = 0.3    // of a part's pixels, that change though nothing moves: a flag
	restShare    = 0.02   // the same, up to which a part that the detector marks may have been left behind
	ownEdge      = 6      // grey levels of an edge of the background's own
	softShare    = 0.3    // of its difference from the background, at which the border of a thing must begin
)

// settle looks at the marked parts in which nothing moves, and forgets those that are no things:
// what was left behind, light, and what waves.
func (c *Contour) settle(p Picture, seeds []byte, dt time.Duration) {
	c.rest += dt
	tenths := uint16(min(keepFor, c.rest/(100*time.Millisecond)))
	c.rest -= time.Duration(tenths) * 100 * time.Millisecond
	for y := c.top; y < c.bottom; y++ {
		for i := y*c.width + c.left; i < y*c.width+c.right; i++ {
			m := c.marks[i]
			if s := c.seems[i]; s != 0 && s != seemsProven {
				c.seems[i]--
			}
			if m != 0 {
				c.lately[i] = latelyFor
			} else {
				if l := c.lately[i]; l != 0 {
					if s := c.smooth[i]; uint16(l) <= tenths && s < provenLevel && s > -provenLevel {
						c.seems[i] = seemsProven
					}
					c.lately[i] = l - byte(min(tenths, uint16(l)))
				}
			}
			switch {
			case m == 0 || seeds[i] != 0:
				c.held[i] = 0
			default:
				c.held[i] = min(keepFor, c.held[i]+tenths)
			}
		}
	}
	steady := p.steady() && !c.time.Before(c.blindTill)
	clear(c.lines)
	c.sigma = math.Sqrt(c.noise() - 1)
	c.divide(c.marks, 1, c.rect)
	for part := range c.parts {
		c.walk(part)
		still, old, changed := 0, 0, 0
		for _, j := range c.queue {
			if c.held[j] >= ghostAfter {
				still++
			}
			if c.held[j] >= keepFor {
				old++
			}
			if d := int(p.Luma[int(j)/c.width*p.Stride+int(j)%c.width]) - int(c.before[j]); d > changeLevels ||
				d < -changeLevels {
				changed++
			}
		}
		n, forget, ghost := len(c.queue), false, false
		switch {
		case 10*still >= 9*n:
			waves := float64(changed) > waveShare*float64(n) && steady
			ghost = c.ghost(p)
			forget = 2*old > n || waves || ghost || c.light(p) || c.soft(p)
		case steady && float64(changed) < restShare*float64(n): // the detector goes on marking what was left behind
			ghost = c.ghost(p)
			forget = ghost
		}
		switch {
		case forget:
			c.forget(p, c.queue)
			for _, j := range c.queue {
				if ghost {
					c.former[j] ^= formerLit | formerThing
				}
			}
		case steady && float64(changed) > leavesShare*float64(n):
			c.behind(p)
		}
	}
	for y := range c.height {
		copy(c.before[y*c.width:][:c.width], p.Luma[y*p.Stride:])
	}
}

// ghost tells whether the background has an edge around the part in the queue that the picture
// lacks.
func (c *Contour) ghost(p Picture) bool {
	picture, background := 0, 0
	for _, i := range c.queue {
		x, y := int(i)%c.width, int(i)/c.width
		for _, to := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
			_, known, a, b := c.step(p, x, y, to)
			if !known {
				continue
			}
			more := max(b, -b) - max(a, -a)
			background += min(ghostMost, max(0, more))
			picture += min(ghostMost, max(0, -more))
		}
	}
	return float64(background) > ghostTimes*float64(picture)
}

// step looks from a marked pixel one to a side. It is free if that is not marked; by how many grey
// levels the picture and the background get brighter from some pixels inside to some outside is
// known if those are.
func (c *Contour) step(p Picture, x, y int, to [2]int) (free, known bool, inPicture, inBackground int) {
	w, h := c.width, c.height
	u, v := x+to[0], y+to[1]
	if u < 0 || u >= w || v < 0 || v >= h || c.marks[v*w+u] != 0 {
		return false, false, 0, 0
	}
	u, v = x+ghostReach*to[0], y+ghostReach*to[1]
	s, t := x-(ghostReach-1)*to[0], y-(ghostReach-1)*to[1]
	if u < 0 || u >= w || v < 0 || v >= h || s < 0 || s >= w || t < 0 || t >= h || c.marks[v*w+u] != 0 ||
		c.marks[t*w+s] == 0 {
		return true, false, 0, 0
	}
	return true, true, int(p.Luma[v*p.Stride+u]) - int(p.Luma[t*p.Stride+s]),
		int(c.back[v*w+u]>>8) - int(c.back[t*w+s]>>8)
}

// light tells whether the part in the queue looks like the background in another light.
func (c *Contour) light(p Picture) bool {
	var n, x, y, xx, xy, yy float64
	for _, i := range c.queue {
		b, v := float64(c.back[i])/256, float64(p.Luma[int(i)/c.width*p.Stride+int(i)%c.width])
		n, x, y, xx, xy, yy = n+1, x+b, y+v, xx+b*b, xy+b*v, yy+v*v
	}
	xx, xy, yy = xx-x*x/n, xy-x*y/n, yy-y*y/n
	return n > 50 && xx > n*lightTexture*lightTexture && xy > lightAlike*math.Sqrt(xx*yy)
}

// soft tells whether the difference of the part in the queue from the background fades out at its
// border, as those of clouds and beams do.
func (c *Contour) soft(p Picture) bool {
	w, h := c.width, c.height
	step, border, inside := 0, 0, 0
	for _, i := range c.queue {
		d := int(c.smooth[i])
		inside += max(d, -d)
		x, y := int(i)%w, int(i)/w
		for _, to := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
			u, v := x+to[0], y+to[1]
			if u < 0 || u >= w || v < 0 || v >= h || c.marks[v*w+u] != 0 {
				continue
			}
			u, v = x+ghostReach*to[0], y+ghostReach*to[1]
			s, t := x-ghostReach*to[0], y-ghostReach*to[1]
			if u < 0 || u >= w || v < 0 || v >= h || s < 0 || s >= w || t < 0 || t >= h || c.marks[v*w+u] != 0 ||
				c.marks[t*w+s] == 0 {
				continue
			}
			border++
			a := int(p.Luma[v*p.Stride+u]) - int(p.Luma[t*p.Stride+s])
			b := int(c.back[v*w+u]>>8) - int(c.back[t*w+s]>>8)
			if max(b, -b) >= ownEdge && a*b > 0 { // what is there has an edge there anyway
				continue
			}
			e := int(c.smooth[t*w+s]) - int(c.smooth[v*w+u])
			step += max(e, -e)
		}
	}
	return border > 8 && float64(step)*float64(len(c.queue)) < softShare*float64(inside)*float64(border)
}
