package motion

import "vmsbridge/motion/plane"

// In strong noise, as by night, a cell alone says little: each is then taken together with its neighbours, before anything else looks at the picture. That costs
// what is smaller than two cells, which cannot be seen there anyway.
const (
	noisySmooth = 4 << 8  // mean noise of the cells, from which they are smoothed
	calmSmooth  = 1 << 8  // mean noise of smoothed cells, below which they no longer are
	smoothShare = 3.0 / 8 // of noise without any pattern, that the smoothing leaves
	nightShare  = 179     // of 256, of its noise, from which a smoothed cell's threshold is made: what is learned is ruled by what jumps, of which smoothing leaves little
	blizzard    = 25      // small things that move at a time, from which that is not so
	startNoise  = 1.3     // times what the cells differ by on average is their noise, as it is learned later
)

// smoother smooths the cells of a picture, or not. Its zero value does not.
type smoother struct {
	on   bool
	calm []uint16    // the cells' noise as thresholds are made of it
	rows [3][]uint16 // of three rows of cells, each smoothed in itself
}

// resize makes room for cells.
func (s *smoother) resize(width, height int) {
	*s = smoother{calm: make([]uint16, width*height)}
	for i := range s.rows {
		s.rows[i] = make([]uint16, width)
	}
}

// run smooths the cells of a picture in place, by 1 2 1 in both directions, if it is on. At the borders the outermost cells count twice.
func (s *smoother) run(cells []uint16, width int) {
	height := len(cells) / max(1, width)
	if !s.on || width < 3 || height < 3 {
		return
	}
	above, here, below := s.rows[0], s.rows[1], s.rows[2]
	smoothRow(here, cells[:width])
	copy(above, here)
	for y := range height {
		if y+1 < height {
			smoothRow(below, cells[(y+1)*width:(y+2)*width])
		} else {
			copy(below, here)
		}
		row, a, h, b := cells[y*width:(y+1)*width], above[:width], here[:width], below[:width]
		plane.Smooth(row, a, h, b)
		above, here, below = here, below, above
	}
}

// doubts is the noise of the cells as thresholds are made of it: by night less than was learned, but not while much falls, since flakes are no noise.
func (d *Detector) doubts() []uint16 {
	if !d.smooth.on || d.tracks.fall.all > blizzard {
		return d.model.noise
	}
	calm := d.smooth.calm[:len(d.model.noise)]
	plane.Share(calm, d.model.noise, nightShare<<8)
	return calm
}

// smoothRow writes a smoothed row.
func smoothRow(to, from []uint16) {
	to = to[:len(from)]
	n := len(from)
	to[0] = uint16((3*uint32(from[0]) + uint32(from[1]) + 2) >> 2)
	plane.Smooth(to[1:n-1], from, from[1:], from[2:])
	to[n-1] = uint16((uint32(from[n-2]) + 3*uint32(from[n-1]) + 2) >> 2)
}

// smoothen switches the smoothing by the noise that the model has learned, and carries the model over.
func (d *Detector) smoothen() {
	sum := 0
	for _, i := range d.light.at {
		sum += int(d.model.noise[i])
	}
	if len(d.light.at) == 0 {
		return
	}
	mean := sum / len(d.light.at)
	switch {
	case !d.smooth.on && mean > noisySmooth:
		d.smooth.on = true
		d.smooth.run(d.model.background, d.grid.width)
		for i, n := range d.model.noise {
			d.model.noise[i] = uint16(float64(n) * smoothShare)
		}
	case d.smooth.on && mean < calmSmooth:
		d.smooth.on = false
		d.pictures = 0 // what it looks like unsmoothed is learned anew
	default:
		return
	}
	d.history.clear()
	d.unlit.clear()
}
