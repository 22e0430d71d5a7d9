package rule

import (
	"math"
	"time"
)

const (
	// clearBefore is the number of pictures in which a thing is clear of a line on the one side,
	// before it is on the other.
	clearBefore = 2
	// behindFor is the time after which one who came over a line, and is not clear of it, has
	// crossed it: who stops soon behind it. Who sways on it is back on the other side before.
	behindFor = time.Second
	// grows is how much larger than in its first picture who came over the border is to be, to have
	// been outside before.
	grows = 2
	// atBorder is how close to the border of the picture, in heights of it, the end of a line means
	// the border: it goes on beyond, by onBeyond, where the feet are of those whom the border cuts.
	atBorder, onBeyond = 0.03, 1.0
)

// line is a Line in heights of the picture.
type line struct {
	Line
	points []point
}

// reach lets the ends of a line that are at the border of the picture go on beyond it.
func (l *line) reach(aspect float64) {
	n := len(l.points)
	first, last := l.points[0], l.points[n-1]
	l.points[0] = first.beyond(l.points[1], aspect)
	l.points[n-1] = last.beyond(l.points[n-2], aspect)
}

// beyond is the end p of a line, or a point outside of the picture if p is at the border and the
// line comes to it from before.
func (p point) beyond(before point, aspect float64) point {
	way := p.minus(before)
	if p.x < atBorder && way.x < 0 || p.x > aspect-atBorder && way.x > 0 ||
		p.y < atBorder && way.y < 0 || p.y > 1-atBorder && way.y > 0 {
		return p.plus(way, onBeyond/p.apart(before))
	}
	return p
}

// atLine is what a path does at a line.
type atLine struct {
	way  Direction // in which it stepped over it, and is not far enough from it yet; "": it did not
	part int
	at   time.Duration
	seen [2]int // pictures on side a and side b, clear of the line, since it was last crossed from there
	came int    // 1 + the side on which it was before it came into the picture; 0 if it did not
	near bool   // it crossed the line and stopped soon behind it: it goes back once it is clear of it
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
	beyond := away >= k.clear()
	if beyond {
		s.seen[side]++
		s.near = false
	} else if s.near || at-s.at < behindFor || away < clearLeast {
		return false
	}
	if s.way == "" || !k.counts() {
		return false
	}
	from := 0
	if s.way == BToA {
		from = 1
	}
	if s.seen[from] < clearBefore && !(s.came == 1+from && k.box.area() > grows*k.first) {
		s.way = ""
		return false
	}
	// What is joined to a thing and torn off it moves its foot, against the way that it goes.
	going := cross(l.points[s.part+1].minus(l.points[s.part]), k.foot.minus(k.trail))
	if going > 0 != (s.way == AToB) {
		return false
	}
	if s.seen[from], s.came = 0, 0; !beyond {
		s.near, s.seen[1-from] = true, clearBefore
	}
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
