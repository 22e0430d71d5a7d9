package rule

import (
	"math"
	"time"
)

// clearBefore is the number of pictures in which a thing is clear of a line on the one side, before
// it is on the other.
const clearBefore = 2

// line is a Line in heights of the picture.
type line struct {
	Line
	points []point
}

// atLine is what a path does at a line.
type atLine struct {
	way  Direction // in which it stepped over it, and is not far enough from it yet; "": it did not
	part int
	at   time.Duration
	seen [2]int // pictures on side a and side b, clear of the line, since it was last crossed from there
}

// step takes a path's newest step to the line, and tells whether it has crossed it.
func (l *line) step(s *atLine, k *path, at time.Duration) bool {
	for i := range len(l.points) - 1 {
		a, b := l.points[i], l.points[i+1]
		along := b.minus(a)
		from, to := cross(along, k.was.minus(a)), cross(along, k.foot.minus(a))
		if from > 0 == (to > 0) {
			continue
		}
		step := k.foot.minus(k.was)
		if (cross(step, a.minus(k.was)) > 0) == (cross(step, b.minus(k.was)) > 0) {
			continue // past its end
		}
		way := AToB
		if to <= 0 {
			way = BToA
		}
		share := from / (from - to)
		s.way, s.part, s.at = way, i, k.wasAt+time.Duration(share*float64(at-k.wasAt))
	}
	away, side := apart(l.points, k.foot)
	if away < k.clear() {
		return false
	}
	s.seen[side]++
	if s.way == "" || !k.counts() {
		return false
	}
	from := 0
	if s.way == BToA {
		from = 1
	}
	if s.seen[from] < clearBefore {
		s.way = ""
		return false
	}
	// What is joined to a thing and torn off it moves its foot, against the way that it goes.
	going := cross(l.points[s.part+1].minus(l.points[s.part]), k.foot.minus(k.trail))
	if going > 0 != (s.way == AToB) {
		return false
	}
	s.seen[from] = 0
	return true
}

// way is where in the picture it goes from one side to the other.
func (l *line) way(s *atLine) string {
	along := l.points[s.part+1].minus(l.points[s.part])
	x, y := -along.y, along.x // from a to b
	if s.way == BToA {
		x, y = -x, -y
	}
	switch {
	case math.Abs(x) > math.Abs(y) && x > 0:
		return "right"
	case math.Abs(x) > math.Abs(y):
		return "left"
	case y > 0:
		return "down"
	}
	return "up"
}

// apart is how far a point is from the nearest part of what the points draw, and on which side of
// that: 0 is a, 1 is b.
func apart(points []point, p point) (away float64, side int) {
	away = math.Inf(1)
	for i := range len(points) - 1 {
		a, along := points[i], points[i+1].minus(points[i])
		of := p.minus(a)
		share := min(max((of.x*along.x+of.y*along.y)/(along.x*along.x+along.y*along.y), 0), 1)
		if d := p.apart(a.plus(along, share)); d < away {
			away, side = d, 0
			if cross(along, of) > 0 {
				side = 1
			}
		}
	}
	return away, side
}
