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
	ok := true
	for i, corner := range p {
		at := item(path, i)
		if c.bad[at] || c.bad[at+"[0]"] || c.bad[at+"[1]"] {
			ok = false
		} else if !fraction(corner[0]) || !fraction(corner[1]) {
			c.fault(at, "[%v, %v] must be fractions of the picture, 0 to 1, not pixels", corner[0], corner[1])
			ok = false
		}
	}
	if !ok {
		return
	}
	if i, j, crossed := p.crossing(); crossed {
		c.fault(path, "the side after corner %d crosses the one after corner %d; list the corners in order around the area", i+1, j+1)
	} else if p.area() < leastArea {
		c.fault(path, "covers nothing of the picture")
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

// crossing finds two sides that cut through each other. Sides that only touch are fine.
func (p Polygon) crossing() (int, int, bool) {
	turn := func(a, b, c [2]float64) float64 {
		return (b[0]-a[0])*(c[1]-a[1]) - (b[1]-a[1])*(c[0]-a[0])
	}
	for i := range p {
		a, b := p[i], p[(i+1)%len(p)]
		for j := i + 2; j < len(p); j++ {
			c, d := p[j], p[(j+1)%len(p)]
			if turn(a, b, c)*turn(a, b, d) < 0 && turn(c, d, a)*turn(c, d, b) < 0 {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}
