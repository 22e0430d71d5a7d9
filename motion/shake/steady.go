package shake

import (
	"math"

	"vmsbridge/motion/plane"
)

const (
	steadyReach  = 4    // cells, by which a shaking camera may look elsewhere
	steadyRounds = 4    // of least squares, at most
	steadyStep   = 3    // of the cells, that are looked at first: mostly the camera stands still, and a few tell
	steadyLeast  = 0.06 // cells, below which a shift is none
	steadyShare  = 0.8  // of the differences from the background, that a shift must leave at most to be believed
	steadyCells  = 100  // that agree, at least
	// of the differences' squares, each cut at steadyCut, that a first guess must explain to be
	// followed
	steadyHints = 0.05
	steadyCut   = 24 << 8
)

// Steady finds by how much the camera looks elsewhere than the background does, and puts the
// picture back in its place: wind and traffic shake masts. The shift is that of the scene as a
// whole, found by least squares on the gradients (B. D. Lucas and T. Kanade: An iterative image
// registration technique with an application to stereo vision, 1981); what moves in the scene is
// trimmed.
type Steady struct {
	DX, DY        float64 // of the newest picture against the background, in cells
	width, height int
	moved         []uint16
	few           []int32       // cells that tell whether it may have moved: every third of those that tell by how much
	points        []plane.Point // of these
	all           []int32
}

// Resize makes room for width x height cells, of which those at tell; not those close to the
// border, as what they show may come from beyond it.
func (s *Steady) Resize(width, height int, at []int32) {
	*s = Steady{width: width, height: height, moved: make([]uint16, width*height)}
	if width < 4*steadyReach || height < 4*steadyReach {
		return
	}
	for k, i := range at {
		x, y := int(i)%width, int(i)/width
		if x <= steadyReach || y <= steadyReach || x >= width-steadyReach-2 || y >= height-steadyReach-2 {
			continue
		}
		s.all = append(s.all, i)
		if k%steadyStep == 0 {
			s.few = append(s.few, i)
		}
	}
	s.points = make([]plane.Point, len(s.few))
}

// Run puts the cells of a picture in their place.
func (s *Steady) Run(background, cells []uint16) {
	s.DX, s.DY = 0, 0
	dx, dy, ok := s.shiftOf(background, cells)
	if !ok {
		return
	}
	s.DX, s.DY = dx, dy
	s.put(background, cells)
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

// slopes are the sums from which a shift is found, over the differences r between picture and
// background and the background's gradients x and y.
type slopes struct {
	n, r, x, y, xx, xy, yy, xr, yr, rr float64
	rest, still                        float64 // sums of the differences' sizes, with the shift and without
}

// first sums up a few cells without a shift, each difference cut at steadyCut. All of it is exact
// in whole numbers, of which gradients are quarters.
func (s *Steady) first(background, now []uint16, w int) slopes {
	var m slopes
	if len(s.few) == 0 {
		return m
	}
	s.differ(background, now, w)
	sum := plane.SumSlopes(s.points)
	m.n, m.r, m.rr, m.rest, m.still = float64(len(s.few)), float64(sum.R), float64(sum.RR), float64(sum.Rest),
		float64(sum.Size)
	m.x, m.y, m.xr, m.yr = float64(sum.X)/4, float64(sum.Y)/4, float64(sum.XR)/4, float64(sum.YR)/4
	m.xx, m.xy, m.yy = float64(sum.XX)/16, float64(sum.XY)/16, float64(sum.YY)/16
	return m
}

// differ takes the points of a picture: of each of the few cells the difference from the
// background, cut at steadyCut, the size of what was cut, and four times the background's gradient.
func (s *Steady) differ(background, now []uint16, w int) {
	const reach = 2
	points, now := s.points[:len(s.few)], now[:len(background)]
	for k, at := range s.few {
		i := int(at)
		row := background[i-reach : i+reach+1]
		r := int32(now[i]) - int32(row[reach])
		points[k] = plane.Point{
			R: max(-steadyCut, min(steadyCut, r)), Size: max(r, -r),
			X: int32(row[2*reach]) - int32(row[0]), Y: int32(background[i+reach*w]) - int32(background[i-reach*w]),
		}
	}
}

// again sums up the cells shifted by dx and dy, whose differences, less their mean, are within the
// limit.
func (s *Steady) again(background, now []uint16, w int, dx, dy, mean, limit float64) slopes {
	var m slopes
	ix, u := split(dx)
	iy, v := split(dy)
	for _, at := range s.all {
		i := int(at)
		r := float64(between(now, w, i+iy*w+ix, u, v)-int32(background[i])) - mean
		if r > limit || r < -limit {
			continue
		}
		gx := float64(int32(background[i+1])-int32(background[i-1])) / 2
		gy := float64(int32(background[i+w])-int32(background[i-w])) / 2
		m.n++
		m.r, m.x, m.y = m.r+r, m.x+gx, m.y+gy
		m.xx, m.xy, m.yy = m.xx+gx*gx, m.xy+gx*gy, m.yy+gy*gy
		m.xr, m.yr, m.rr = m.xr+gx*r, m.yr+gy*r, m.rr+r*r
		m.rest += math.Abs(r)
		m.still += math.Abs(float64(int32(now[i])-int32(background[i])) - mean)
	}
	return m
}

// shiftOf finds by how many cells the picture is shifted against the background. It tells whether
// that explains their differences.
func (s *Steady) shiftOf(background, now []uint16) (dx, dy float64, ok bool) {
	m, least := s.first(background, now, s.width), float64(steadyCells/steadyStep)
	limit, mean := 0.0, 0.0
	for round := range steadyRounds {
		if round > 0 {
			m, least = s.again(background, now, s.width, dx, dy, mean, limit), steadyCells
		}
		n := m.n
		if n < least {
			return 0, 0, false
		}
		if round == steadyRounds-1 {
			return dx, dy, m.rest < steadyShare*m.still && math.Hypot(dx, dy) >= steadyLeast
		}
		xx, xy, yy, xr, yr := m.xx-m.x*m.x/n+256*n, m.xy-m.x*m.y/n, m.yy-m.y*m.y/n+256*n, m.xr-m.x*m.r/n, m.yr-m.y*m.r/n
		det := xx*yy - xy*xy
		if det <= 0 {
			return 0, 0, false
		}
		sx, sy := -(yy*xr-xy*yr)/det, -(xx*yr-xy*xr)/det
		if round == 0 && (math.Hypot(sx, sy) < steadyLeast || -(sx*xr+sy*yr) < steadyHints*(m.rr-m.r*m.r/n)) {
			return 0, 0, false
		}
		dx, dy = dx+sx, dy+sy
		if math.Abs(dx) > steadyReach-1 || math.Abs(dy) > steadyReach-1 {
			return 0, 0, false
		}
		mean += m.r / n
		limit = max(3<<8, 3*m.rest/n)
	}
	return 0, 0, false
}

// put moves the cells by the shift. What the camera does not see is as the background.
func (s *Steady) put(background, cells []uint16) {
	ix, u := split(s.DX)
	iy, v := split(s.DY)
	for y := range s.height {
		for x := range s.width {
			i := y*s.width + x
			if sx, sy := x+ix, y+iy; sx < 0 || sy < 0 || sx+1 >= s.width || sy+1 >= s.height {
				s.moved[i] = background[i]
			} else {
				s.moved[i] = uint16(between(cells, s.width, sy*s.width+sx, u, v))
			}
		}
	}
	copy(cells, s.moved)
}
