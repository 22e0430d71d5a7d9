package configs

import "math"

// leastArea is the smallest share of the picture that a polygon may cover; below it, it is a slip.
const leastArea = 1e-5

func (c *checker) polygon(path string, p Polygon) {
	if c.bad[path] {
		return
	}
	if len(p) < 3 || len(p) > 64 {
		c.fault(path, "an area has 3 to 64 corners, this one %d", len(p))
		return
	}
	if !c.places(path, p) {
		return
	}
	for i, corner := range p {
		next := (i + 1) % len(p)
		if corner != p[next] {
			continue
		}
		if next == 0 {
			c.fault(item(path, i), "is the first corner again; leave it out, the last one joins the first by itself")
		} else {
			c.fault(item(path, next), "is the same corner as the one before; leave it out")
		}
		return
	}
	if i, j, met := p.meeting(); met {
		c.fault(path, "the sides after corner %d and corner %d meet; list the corners in order around the area", i+1,
			j+1)
	} else if p.area() < leastArea {
		c.fault(path, "covers nothing of the picture")
	}
}

// places tells whether all of a list are places in the picture.
func (c *checker) places(path string, list [][2]float64) bool {
	ok := true
	for i, p := range list {
		at := item(path, i)
		if c.bad[at] || c.bad[at+"[0]"] || c.bad[at+"[1]"] {
			ok = false
		} else if !fraction(p[0]) || !fraction(p[1]) {
			c.fault(at, "[%v, %v] must be fractions of the picture, 0 to 1, not pixels", p[0], p[1])
			ok = false
		}
	}
	return ok
}

// leastPart is the shortest part that a line may have, as a fraction of the picture.
const leastPart = 0.02

func (c *checker) polyline(path string, p Polyline) {
	if c.bad[path] {
		return
	}
	if len(p) < 2 || len(p) > 64 {
		c.fault(path, "a line has 2 to 64 points, this one %d", len(p))
		return
	}
	if !c.places(path, p) {
		return
	}
	for i := 1; i < len(p); i++ {
		if math.Hypot(p[i][0]-p[i-1][0], p[i][1]-p[i-1][1]) < leastPart {
			c.fault(item(path, i), "is the same point as the one before, or too close to it; nothing can cross there")
			return
		}
	}
	for i := 0; i+1 < len(p); i++ {
		if i+2 < len(p) && backwards(p[i+1], p[i], p[i+2]) {
			c.fault(path, "goes back on itself after point %d; list its points in order along it", i+2)
			return
		}
		for j := i + 2; j+1 < len(p); j++ {
			if meet(p[i], p[i+1], p[j], p[j+1]) {
				c.fault(path, "crosses itself after point %d and point %d; make two lines of it", i+1, j+1)
				return
			}
		}
	}
}

func fraction(v float64) bool { return v >= 0 && v <= 1 }

// area is the share of the picture by the shoelace formula.
func (p Polygon) area() float64 {
	var sum float64
	for i, a := range p {
		b := p[(i+1)%len(p)]
		sum += a[0]*b[1] - b[0]*a[1]
	}
	return math.Abs(sum) / 2
}

// meeting finds two sides that cross or touch, or neighbours of which one lies back on the other.
func (p Polygon) meeting() (int, int, bool) {
	n := len(p)
	for i := range n {
		a, b := p[i], p[(i+1)%n]
		for j := i + 1; j < n; j++ {
			c, d := p[j], p[(j+1)%n]
			switch {
			case j == i+1: // b is c
				if backwards(b, a, d) {
					return i, j, true
				}
			case i == 0 && j == n-1: // d is a
				if backwards(a, b, c) {
					return i, j, true
				}
			case meet(a, b, c, d):
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

// turn is the sign of the turn a → b → c: 1, -1, or 0 when they lie in line.
func turn(a, b, c [2]float64) int {
	switch v := (b[0]-a[0])*(c[1]-a[1]) - (b[1]-a[1])*(c[0]-a[0]); {
	case v > 1e-12:
		return 1
	case v < -1e-12:
		return -1
	}
	return 0
}

// backwards tells whether the sides from corner to p and to q lie on each other.
func backwards(corner, p, q [2]float64) bool {
	return turn(corner, p, q) == 0 && (p[0]-corner[0])*(q[0]-corner[0])+(p[1]-corner[1])*(q[1]-corner[1]) > 0
}

// meet tells whether the sides ab and cd have a point in common.
func meet(a, b, c, d [2]float64) bool {
	abc, abd, cda, cdb := turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)
	if abc*abd < 0 && cda*cdb < 0 {
		return true
	}
	on := func(t int, a, b, p [2]float64) bool {
		return t == 0 && min(a[0], b[0]) <= p[0] && p[0] <= max(a[0], b[0]) && min(a[1], b[1]) <= p[1] &&
			p[1] <= max(a[1], b[1])
	}
	return on(abc, a, b, c) || on(abd, a, b, d) || on(cda, c, d, a) || on(cdb, c, d, b)
}
