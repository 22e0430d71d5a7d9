package motion

import (
	"fmt"
	"math"
)

// Polygon is an outline, closed by itself; each point is {x, y} in fractions 0..1 of the picture's
// width and height, {0, 0} top left.
type Polygon [][2]float64

// Validate reports why p is not an area: fewer than three points, a point outside the picture,
// sides that cross or touch each other, no area at all.
func (p Polygon) Validate() error {
	if len(p) < 3 {
		return fmt.Errorf("an area needs at least 3 points, this one has %d", len(p))
	}
	for i, q := range p {
		for _, v := range q {
			if math.IsNaN(v) || v < 0 || v > 1 {
				return fmt.Errorf("point %d (%v, %v) is outside 0..1", i+1, q[0], q[1])
			}
		}
	}
	n := len(p)
	for i := range n {
		if p[i] == p[(i+1)%n] {
			return fmt.Errorf("points %d and %d are the same", i+1, (i+1)%n+1)
		}
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			if crosses(p[i], p[(i+1)%n], p[j], p[(j+1)%n], j == i+1 || (i == 0 && j == n-1)) {
				return fmt.Errorf("it crosses itself: the side from point %d and the side from point %d meet", i+1, j+1)
			}
		}
	}
	if area := p.area(); math.Abs(area) < 1e-6 {
		return fmt.Errorf("its area is empty")
	}
	return nil
}

// area is the signed area (shoelace formula), in shares of the picture.
func (p Polygon) area() float64 {
	var a float64
	for i, q := range p {
		r := p[(i+1)%len(p)]
		a += q[0]*r[1] - r[0]*q[1]
	}
	return a / 2
}

// turn is the sign of the turn a → b → c: 1, -1, or 0 when they are in line.
func turn(a, b, c [2]float64) int {
	v := (b[0]-a[0])*(c[1]-a[1]) - (b[1]-a[1])*(c[0]-a[0])
	switch {
	case v > 1e-12:
		return 1
	case v < -1e-12:
		return -1
	}
	return 0
}

// within tells whether c, in line with a and b, lies between them.
func within(a, b, c [2]float64) bool {
	return min(a[0], b[0]) <= c[0] && c[0] <= max(a[0], b[0]) && min(a[1], b[1]) <= c[1] && c[1] <= max(a[1], b[1])
}

// crosses tells whether the sides ab and cd meet. Neighbouring sides share a point, and meet only
// if one lies back on the other.
func crosses(a, b, c, d [2]float64, neighbours bool) bool {
	abc, abd, cda, cdb := turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)
	if neighbours {
		if abc != 0 || abd != 0 {
			return false
		}
		shared, p, q := b, a, d
		if b != c { // the closing side: d is a
			shared, p, q = a, b, c
		}
		return (p[0]-shared[0])*(q[0]-shared[0])+(p[1]-shared[1])*(q[1]-shared[1]) > 0
	}
	if abc*abd < 0 && cda*cdb < 0 {
		return true
	}
	return abc == 0 && within(a, b, c) || abd == 0 && within(a, b, d) || cda == 0 && within(c, d, a) || cdb == 0 &&
		within(c, d, b)
}

// contains tells whether the point is inside (even-odd rule).
func (p Polygon) contains(x, y float64) bool {
	inside := false
	for i, a := range p {
		b := p[(i+1)%len(p)]
		if (a[1] > y) != (b[1] > y) && x < (b[0]-a[0])*(y-a[1])/(b[1]-a[1])+a[0] {
			inside = !inside
		}
	}
	return inside
}
