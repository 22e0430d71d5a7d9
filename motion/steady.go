package motion

import "math"

const (
	steadyReach  = 4    // cells, by which a shaking camera may look elsewhere
	steadyRounds = 4    // of least squares, at most
	steadyLeast  = 0.06 // cells, below which a shift is none
	steadyShare  = 0.8  // of the differences from the background, that a shift must leave at most to be believed
	steadyCells  = 100  // that agree, at least
	steadyHints  = 0.05 // of the differences' squares, each cut at steadyCut, that a first guess must explain to be followed
	steadyCut    = 24 << 8
)

// steady finds by how much the camera looks elsewhere than the background does, and puts the picture back in its place: wind and traffic shake masts.
// The shift is that of the scene as a whole, found by least squares on the gradients (B. D. Lucas and T. Kanade: An iterative image registration technique with an application to
// stereo vision, 1981); what moves in the scene is trimmed.
type steady struct {
	dx, dy float64 // of the newest picture against the background, in cells
	moved  []uint16
}

func (s *steady) resize(cells int) { *s = steady{moved: make([]uint16, cells)} }

// run puts the cells of a picture in their place, by what the cells at show.
func (s *steady) run(background, cells []uint16, at []int32, g grid) {
	s.dx, s.dy = 0, 0
	if g.width < 4*steadyReach || g.height < 4*steadyReach {
		return
	}
	dx, dy, ok := shiftOf(background, cells, at, g)
	if !ok {
		return
	}
	s.dx, s.dy = dx, dy
	s.put(background, cells, g)
}

// between is the value between cells, x and y whole cells and u and v 1/256 beyond them.
func between(cells []uint16, width, i, u, v int) int32 {
	a := int(cells[i])*(256-u) + int(cells[i+1])*u
	b := int(cells[i+width])*(256-u) + int(cells[i+width+1])*u
	return int32((a*(256-v) + b*v) >> 16)
}

// split is a shift as whole cells and 1/256.
func split(d float64) (whole, part int) {
	n := int(math.Floor(d*256 + 0.5))
	return n >> 8, n & 255
}

// shiftOf finds by how many cells the picture is shifted against the background. It tells whether that explains their differences.
func shiftOf(background, now []uint16, at []int32, g grid) (dx, dy float64, ok bool) {
	w := g.width
	limit, mean, reach := 0.0, 0.0, 2
	for round := range steadyRounds {
		ix, u := split(dx)
		iy, v := split(dy)
		var n, r1, x1, y1, xx, xy, yy, xr, yr, rr, rest, still float64
		step := 1
		if round == 0 { // mostly the camera stands still, and a few cells tell
			step = 3
		}
		for k := 0; k < len(at); k += step {
			i := int(at[k])
			x, y := i%w, i/w
			if x <= steadyReach || y <= steadyReach || x >= w-steadyReach-2 || y >= g.height-steadyReach-2 {
				continue
			}
			r := float64(between(now, w, i+iy*w+ix, u, v)-int32(background[i])) - mean
			if round == 0 {
				r = max(-steadyCut, min(steadyCut, r))
			} else if r > limit || r < -limit {
				continue
			}
			gx := float64(int32(background[i+reach])-int32(background[i-reach])) / float64(2*reach)
			gy := float64(int32(background[i+reach*w])-int32(background[i-reach*w])) / float64(2*reach)
			n++
			r1, x1, y1 = r1+r, x1+gx, y1+gy
			xx, xy, yy = xx+gx*gx, xy+gx*gy, yy+gy*gy
			xr, yr, rr = xr+gx*r, yr+gy*r, rr+r*r
			rest += math.Abs(r)
			still += math.Abs(float64(int32(now[i])-int32(background[i])) - mean)
		}
		if n < float64(steadyCells/step) {
			return 0, 0, false
		}
		if round == steadyRounds-1 {
			return dx, dy, rest < steadyShare*still && math.Hypot(dx, dy) >= steadyLeast
		}
		xx, xy, yy, xr, yr = xx-x1*x1/n+256*n, xy-x1*y1/n, yy-y1*y1/n+256*n, xr-x1*r1/n, yr-y1*r1/n
		det := xx*yy - xy*xy
		if det <= 0 {
			return 0, 0, false
		}
		sx, sy := -(yy*xr-xy*yr)/det, -(xx*yr-xy*xr)/det
		if round == 0 && (math.Hypot(sx, sy) < steadyLeast || -(sx*xr+sy*yr) < steadyHints*(rr-r1*r1/n)) {
			return 0, 0, false
		}
		dx, dy = dx+sx, dy+sy
		if math.Abs(dx) > steadyReach-1 || math.Abs(dy) > steadyReach-1 {
			return 0, 0, false
		}
		mean += r1 / n
		limit = max(3<<8, 3*rest/n)
		reach = 1
	}
	return 0, 0, false
}

// put moves the cells by the shift. What the camera does not see is as the background.
func (s *steady) put(background, cells []uint16, g grid) {
	ix, u := split(s.dx)
	iy, v := split(s.dy)
	for y := range g.height {
		for x := range g.width {
			i := y*g.width + x
			if sx, sy := x+ix, y+iy; sx < 0 || sy < 0 || sx+1 >= g.width || sy+1 >= g.height {
				s.moved[i] = background[i]
			} else {
				s.moved[i] = uint16(between(cells, g.width, sy*g.width+sx, u, v))
			}
		}
	}
	copy(cells, s.moved)
}
