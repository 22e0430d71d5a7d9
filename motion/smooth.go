package motion

import (
	"slices"

	"vmsbridge/motion/plane"
)

// In strong noise, as by night, a cell alone says little: each is then taken together with its
// neighbours, before anything else looks at the picture. That costs what is smaller than two cells,
// which cannot be seen there anyway.
const (
	noisySmooth = 4 << 8  // mean noise of the cells, from which they are smoothed
	calmSmooth  = 1 << 8  // mean noise of smoothed cells, below which they no longer are
	smoothShare = 3.0 / 8 // of noise without any pattern, that the smoothing leaves
	// of 256, of its noise, from which a smoothed cell's threshold is made: what is learned is
	// ruled by what jumps, of which smoothing leaves little
	nightShare = 179
	blizzard   = 25  // small things that move at a time, from which that is not so
	smoothRows = 16  // that are smoothed at a time
	startNoise = 1.3 // times what the cells differ by on average is their noise, as it is learned later
)

// smoother smooths the cells of a picture, or not. Its zero value does not.
type smoother struct {
	on   bool
	calm []uint16 // the cells' noise as thresholds are made of it
	rows []uint16 // the cells, each row smoothed in itself
	sums [2]int   // the noise of the samples in the upper and in the lower half

	// After how many lessons of the model these are, for each half.
	shared, summed [2]int // calm and sums
}

// resize makes room for cells.
func (s *smoother) resize(width, height int) {
	*s = smoother{calm: make([]uint16, width*height), rows: make([]uint16, width*height)}
}

// run smooths the cells of a picture in place, by 1 2 1 in both directions, if it is on. At the
// borders the outermost cells count twice.
func (s *smoother) run(cells []uint16, width int) {
	height := len(cells) / max(1, width)
	if !s.on || width < 3 || height < 3 {
		return
	}
	// Some rows at a time, which stay close to the processor between the two directions.
	n := width * height
	cells, rows := cells[:n], s.rows[:n]
	for top := 0; top < height; top += smoothRows {
		low := min(top+smoothRows, height)
		from, to := max(1, top*width), min(low*width, n-1)
		plane.Smooth(rows[from:to], cells[from-1:], cells[from:], cells[from+1:])
		for y := top * width; y < low*width; y += width { // the ends of a row are no neighbours of those of the next
			end := y + width - 1
			rows[y] = uint16((3*uint32(cells[y]) + uint32(cells[y+1]) + 2) >> 2)
			rows[end] = uint16((uint32(cells[end-1]) + 3*uint32(cells[end]) + 2) >> 2)
		}
		if top == 0 {
			plane.Smooth(cells[:width], rows, rows, rows[width:])
		}
		// The row before these, and all but the last of them, have both neighbours now.
		from, to = max(1, top-1)*width, (low-1)*width
		plane.Smooth(cells[from:to], rows[from-width:], rows[from:], rows[from+width:])
	}
	plane.Smooth(cells[n-width:], rows[n-2*width:], rows[n-width:], rows[n-width:])
}

// doubts is the noise of the cells as thresholds are made of it: by night less than was learned,
// but not while much falls, since flakes are no noise.
func (d *Detector) doubts() []uint16 {
	if !d.smooth.on || d.tracks.Falling() > blizzard {
		return d.model.noise
	}
	s, m, half := &d.smooth, &d.model, len(d.model.noise)/2
	for k, part := range [2][2]int{{0, half}, {half, len(m.noise)}} {
		if s.shared[k] != m.lessons[k] {
			s.shared[k] = m.lessons[k]
			plane.Share(s.calm[part[0]:part[1]], m.noise[part[0]:part[1]], nightShare<<8)
		}
	}
	return s.calm
}

// sum adds up the noise of the samples at, in ascending order, of which the cells of the half that
// was not learned have the noise that they had.
func (s *smoother) sum(m *model, at []int32) int {
	half, _ := slices.BinarySearch(at, int32(len(m.noise)/2))
	for k, some := range [2][]int32{at[:half], at[half:]} {
		if s.summed[k] == m.lessons[k] {
			continue
		}
		s.summed[k], s.sums[k] = m.lessons[k], 0
		for _, i := range some {
			s.sums[k] += int(m.noise[i])
		}
	}
	return s.sums[0] + s.sums[1]
}

// smoothen switches the smoothing by the noise that the model has learned, and carries the model
// over.
func (d *Detector) smoothen() {
	if len(d.light.At) == 0 {
		return
	}
	sum := d.smooth.sum(&d.model, d.light.At)
	mean := sum / len(d.light.At)
	switch {
	case !d.smooth.on && mean > noisySmooth:
		d.smooth.on = true
		d.smooth.run(d.model.background, d.grid.width)
		for i, n := range d.model.noise {
			d.model.noise[i] = uint16(float64(n) * smoothShare)
		}
		d.model.lessons = [2]int{d.model.lessons[0] + 1, d.model.lessons[1] + 1}
	case d.smooth.on && mean < calmSmooth:
		d.smooth.on = false
		d.pictures = 0 // what it looks like unsmoothed is learned anew
	default:
		return
	}
	d.history.clear()
	d.unlit.clear()
}
