package motion

import (
	"vmsbridge/motion/area"
)

// shadeStep is by how much a soft shadow changes from cell to cell, of 256.
const shadeStep = 20

// Marks of the shape's cells while it is worked on.
const (
	shapeOut    = 0
	shapeIn     = 1
	shapeShade  = 3 // seems to be a shadow
	shapeTried  = 5 // was looked at by restore
	shapeShadow = 6 // is a shadow
	shapePart   = 7 // is of a part that sift knows
)

// unshade takes soft shadows out of the shape, from outside: cells that are a bit darker than the
// background, and as dark as their neighbour but for little. A thing has an edge that stops it.
func (s *silhouette) unshade(d *Detector) {
	const darkest = 150 // of 256: what is darker is no soft shadow
	w, h := d.grid.width, d.grid.height
	now, background := d.history.newest(), d.model.background
	shade := func(i int) int { return int(now[i]) * 256 / max(1, int(background[i])) }
	s.queue = s.queue[:0]
	look := func(from, j int) {
		if s.shape[j] != shapeIn {
			return
		}
		k := shade(j)
		was := 256
		if s.shape[from] != shapeOut {
			was = shade(from)
		}
		if k >= darkest && k <= 256 && was-k <= shadeStep && k-was <= shadeStep {
			s.shape[j] = shapeShade
			s.queue = append(s.queue, int32(j))
		}
	}
	around := func(i int) {
		x, y := i%w, i/w
		if x > 0 {
			look(i, i-1)
		}
		if x+1 < w {
			look(i, i+1)
		}
		if y > 0 {
			look(i, i-w)
		}
		if y+1 < h {
			look(i, i+w)
		}
	}
	for i, v := range s.shape {
		if v == shapeOut {
			around(i)
		}
	}
	for len(s.queue) > 0 {
		i := int(s.queue[len(s.queue)-1])
		s.queue = s.queue[:len(s.queue)-1]
		around(i)
	}
	s.restore(d, shade)
}

// restore puts back the parts of what unshade took that end at once on many sides.
func (s *silhouette) restore(d *Detector, shade func(i int) int) {
	w, h := d.grid.width, d.grid.height
	for i, v := range s.shape {
		if v != shapeShade {
			continue
		}
		s.queue = append(s.queue[:0], int32(i))
		s.shape[i] = shapeTried
		hard, sides := 0, 0
		for at := 0; at < len(s.queue); at++ {
			j := int(s.queue[at])
			x, y := j%w, j/w
			k := shade(j)
			look := func(n int) {
				switch s.shape[n] {
				case shapeShade:
					s.shape[n] = shapeTried
					s.queue = append(s.queue, int32(n))
				case shapeOut:
					sides++
					if e := shade(n) - k; e > shadeStep || e < -shadeStep {
						hard++
					}
				}
			}
			if x > 0 {
				look(j - 1)
			}
			if x+1 < w {
				look(j + 1)
			}
			if y > 0 {
				look(j - w)
			}
			if y+1 < h {
				look(j + w)
			}
		}
		to := byte(shapeShadow)
		if 4*hard > 3*sides {
			to = shapeIn
		}
		for _, j := range s.queue {
			s.shape[j] = to
		}
	}
	for i, v := range s.shape {
		if v == shapeShadow {
			s.shape[i] = shapeOut
		}
	}
}

// part is a connected part of the shape.
type part struct {
	track, first, cells int
	weight              int // sum of the cells' differences from the background
	box                 area.Rect
}

// maxParts bounds the parts that are looked at; what is beyond stays.
const maxParts = 64

// sift drops parts that are much smaller and fainter than the largest part of the same thing:
// pieces of its shadow.
func (s *silhouette) sift(d *Detector, box area.Rect) {
	w := d.grid.width
	s.parts = s.parts[:0]
	for y := box.Top; y < box.Bottom; y++ {
		for x := box.Left; x < box.Right; x++ {
			if s.shape[y*w+x] == shapeIn && len(s.parts) < maxParts {
				p := s.flood(d, y*w+x, shapeIn, shapePart)
				p.track = -1
				for _, i := range s.queue {
					if j := d.finder.Of(int(i)%w, int(i)/w); len(d.objects) > 0 && d.solid[i] != 0 && j >= 0 {
						p.track = d.objects[j].Track
						break
					}
				}
				s.parts = append(s.parts, p)
			}
		}
	}
	for _, p := range s.parts {
		for _, q := range s.parts {
			if p.track >= 0 && p.track == q.track && 4*p.cells < q.cells && 2*p.weight*q.cells < q.weight*p.cells &&
				beside(p.box, q.box) {
				s.flood(d, p.first, shapePart, shapeOut)
				break
			}
		}
	}
	for y := box.Top; y < box.Bottom; y++ {
		for i := y*w + box.Left; i < y*w+box.Right; i++ {
			if s.shape[i] == shapePart {
				s.shape[i] = shapeIn
			}
		}
	}
}

// beside tells whether a is no further from b than half of b's larger side.
func beside(a, b area.Rect) bool {
	gap, _ := a.Apart(b)
	return 2*gap <= max(b.Right-b.Left, b.Bottom-b.Top)
}

// flood gives the part of the shape around a cell another mark. Its cells are in the queue then.
func (s *silhouette) flood(d *Detector, first int, mark, to byte) part {
	w, h := d.grid.width, d.grid.height
	now, background := d.history.newest(), d.model.background
	p := part{first: first, box: area.NoRect}
	s.queue = append(s.queue[:0], int32(first))
	s.shape[first] = to
	for at := 0; at < len(s.queue); at++ {
		i := int(s.queue[at])
		p.cells++
		p.weight += int(abs32(int32(now[i]) - int32(background[i])))
		x, y := i%w, i/w
		p.box.Add(x, y)
		for v := max(0, y-1); v <= min(h-1, y+1); v++ {
			for u := max(0, x-1); u <= min(w-1, x+1); u++ {
				if j := v*w + u; s.shape[j] == mark {
					s.shape[j] = to
					s.queue = append(s.queue, int32(j))
				}
			}
		}
	}
	return p
}
