package motion

import (
	"time"

	"vmsbridge/motion/plane"
)

// spreadLag is about how long ago that was from which something may have spread to a square from
// one beside it.
const spreadLag = 80 * time.Millisecond

// spread tells what grows over the picture, square by square, from what is everywhere at once.
type spread struct {
	across int
	near   []bool // squares in which something moved a moment ago, and those around
	far    []bool // squares in which something moved though nothing was near, from the last calm picture on
	newest []bool // of these, the ones of the newest picture
	nearAt time.Duration
	at     time.Duration // of the newest picture
}

// resize prepares for rows of so many squares.
func (s *spread) resize(squares, across int) {
	*s = spread{across: across, near: make([]bool, squares), far: make([]bool, squares), newest: make([]bool, squares)}
}

// take looks at the squares of a picture. Before calmAt nothing unusual went on; pictures in which
// next to nothing changes need not be taken.
func (s *spread) take(squares []plane.Block, at, dt, calmAt time.Duration) {
	if at-s.at > dt {
		clear(s.near)
		clear(s.newest)
		s.nearAt = 0
	}
	if calmAt >= s.at {
		copy(s.far, s.newest)
	}
	s.at = at
	for i, b := range squares {
		s.newest[i] = b.Moves() >= 2*speckles && !s.near[i]
		s.far[i] = s.far[i] || s.newest[i]
	}
	if at-s.nearAt < spreadLag {
		return
	}
	s.nearAt = at
	clear(s.near)
	for i, b := range squares {
		if b.Moves() < 2*speckles {
			continue
		}
		x := i % s.across
		for row := max(0, i-x-s.across); row <= min(i-x+s.across, len(squares)-1); row += s.across {
			for k := max(0, x-1); k <= min(x+1, s.across-1); k++ {
				s.near[row+k] = true
			}
		}
	}
}

// share is that of the squares in which something moved, from the last calm picture on, though
// nothing had been near.
func (s *spread) share() float64 {
	n := 0
	for _, far := range s.far {
		if far {
			n++
		}
	}
	return float64(n) / float64(max(1, len(s.far)))
}
