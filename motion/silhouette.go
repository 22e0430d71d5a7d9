package motion

import "vmsbridge/motion/area"

// Threshold is the share of the picture (0..1) that must move for the whole picture to count as
// moving: what Activity.Share is drawn against.
func (d *Detector) Threshold() float64 { return d.spans[0].share }

// silhouette is the outline of what moves, for people and for measuring; the decision over spans
// does not use it.
type silhouette struct {
	shape []byte  // 1 for a cell of something that moves
	moved []byte  // 1 for a cell of something that moved and is still there
	queue []int32 // of fill
	level []uint8 // the shape, smoothed
	parts []part
}

func (s *silhouette) resize(cells int) {
	*s = silhouette{shape: make([]byte, cells), moved: make([]byte, cells), level: make([]uint8, cells),
		queue: make([]int32, 0, cells), parts: make([]part, 0, maxParts)}
}

// ActivityMask writes what moves in the newest picture into dst, 255 for it and 0 elsewhere, as
// width x height bytes, row after row: the whole silhouettes of things that are in motion, not only
// their edges, and not the places that they left. The size is free; it is usually that of the
// camera's picture. Pixels of dst beyond it stay as they are. A dst that is too short, and a
// Detector that has not seen a picture yet, give zeroes.
func (d *Detector) ActivityMask(dst []byte, width, height int) {
	d = d.sight()
	if width <= 0 || height <= 0 || len(dst)/width < height {
		clear(dst)
		return
	}
	dst = dst[:width*height]
	if d.grid.cells() == 0 || d.pictures == 0 {
		clear(dst)
		return
	}
	if !d.outline() {
		clear(dst)
		return
	}
	d.silhouette.smooth(d.grid)
	d.silhouette.scale(d.grid, d.steady, dst, width, height)
}

// outline sets the shape of what moves in the newest picture, and of what moved until it stopped
// and is not yet taken for background. It remembers what moved from call to call, so that it must
// be called for each picture to be right about the latter. It tells whether there is any.
func (d *Detector) outline() (any bool) {
	s := &d.silhouette
	for j := range d.objects {
		o := &d.objects[j]
		if o.Track < 0 || !d.shown(o) {
			continue
		}
		for y := o.Whole.Top; y < o.Whole.Bottom; y++ {
			for x := o.Whole.Left; x < o.Whole.Right; x++ {
				if i := y*d.grid.width + x; d.solid[i] != 0 && d.flags[i]&cellFore != 0 && d.finder.Of(x, y) == j {
					s.moved[i] = 1
				}
			}
		}
	}
	box := area.NoRect
	for i := range s.shape {
		s.shape[i] = 0
		switch {
		case d.flags[i]&cellFore == 0 || d.solid[i] == 0:
			s.moved[i] = 0
		case s.moved[i] != 0:
			s.shape[i] = 1
			box.Add(i%d.grid.width, i/d.grid.width)
		}
	}
	if box.Empty() {
		return false
	}
	s.unshade(d)
	box = s.widen(d, box)
	s.sift(d, box)
	s.fill(d.grid, box)
	return true
}

// shown tells whether an object that has a track is part of the mask: what is not yet confirmed
// must be large, or go somewhere that weather does not.
func (d *Detector) shown(o *area.Area) bool {
	k, flurries := &d.tracks.Tracks[o.Track], d.tracks.Flurries()
	if flurries && o.Size() < d.tracks.Small()/4 && 2*float64(o.Size()) < k.Largest() {
		return false // a flake beside what moves
	}
	return k.Confirmed || o.Weak && (o.Size() >= d.tracks.Small() || k.Travelled() && !flurries)
}

// widen takes what is a bit fainter into the shape, beside what is clear. It returns the shape's
// box.
func (s *silhouette) widen(d *Detector, box area.Rect) area.Rect {
	w, h := d.grid.width, d.grid.height
	now, m := d.history.newest(), &d.model
	s.queue = s.queue[:0]
	within := box
	for y := max(0, box.Top-1); y < min(h, box.Bottom+1); y++ {
		for x := max(0, box.Left-1); x < min(w, box.Right+1); x++ {
			i := y*w + x
			beside := x > 0 && s.shape[i-1] == 1 || x+1 < w && s.shape[i+1] == 1 || y > 0 && s.shape[i-w] == 1 ||
				y+1 < h && s.shape[i+w] == 1
			if s.shape[i] != 0 || !beside || d.mask[i] == 0 || d.habit.memory[i] >= restlessAt {
				continue
			}
			if 5*abs32(int32(now[i])-int32(m.background[i])) > 4*threshold(d.contrast, d.doubt[i]) {
				s.queue = append(s.queue, int32(i))
				within.Add(x, y)
			}
		}
	}
	for _, i := range s.queue {
		s.shape[i] = 1
	}
	return within
}

// fill closes the holes of the shape inside r: what cannot be reached from outside of it.
func (s *silhouette) fill(g grid, r area.Rect) {
	if r.Empty() {
		return
	}
	// A cell that was reached has the bit 2.
	s.queue = s.queue[:0]
	reach := func(x, y int) {
		if i := y*g.width + x; s.shape[i] == 0 {
			s.shape[i] = 2
			s.queue = append(s.queue, int32(i))
		}
	}
	for x := r.Left; x < r.Right; x++ {
		reach(x, r.Top)
		reach(x, r.Bottom-1)
	}
	for y := r.Top; y < r.Bottom; y++ {
		reach(r.Left, y)
		reach(r.Right-1, y)
	}
	for len(s.queue) > 0 {
		i := int(s.queue[len(s.queue)-1])
		s.queue = s.queue[:len(s.queue)-1]
		x, y := i%g.width, i/g.width
		if x > r.Left {
			reach(x-1, y)
		}
		if x+1 < r.Right {
			reach(x+1, y)
		}
		if y > r.Top {
			reach(x, y-1)
		}
		if y+1 < r.Bottom {
			reach(x, y+1)
		}
	}
	for y := r.Top; y < r.Bottom; y++ {
		for x := r.Left; x < r.Right; x++ {
			i := y*g.width + x
			s.shape[i] = 1 - s.shape[i]>>1
		}
	}
}
