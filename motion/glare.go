package motion

import (
	"math/bits"

	"vmsbridge/motion/area"
)

const (
	// of an area's difference from the background, that is brighter than it, at least, for the area
	// to be looked at as a beam of light
	glaring       = 0.75
	glareContrast = 1.4 // thresholds, by which it must differ on the mean
	beyondGlare   = 3   // of substance, from which it is a thing in any case
	glareReach    = 2   // cells, around a cell, over which the light is taken to be even
	glareDeep     = 6   // cells inwards from where an area ends, in which it is looked at how bright it becomes
	keenShare     = 0.6 // of that brightness, by which it must end at once
	// of the background's edges that are lost, among the three that make the glow: weighed on 1531
	// areas of beams and 361 of bright things
	lostWeight = 0.66
	glowOf     = 0.95 // by which glow is on the scale of substance
)

// glare looks at an area that is brighter than the background nearly everywhere, which may be a
// beam of light with a sharp cut-off: too many of its edges are sharp for outline to tell. A beam
// multiplies what is there by something smooth: each cell's share of its surroundings stays what it
// is in the background. And on most sides it begins faint and becomes brighter from cell to cell,
// where a thing is as bright at its edge as behind that.
func (d *Detector) glare(j int, o *area.Area, now []uint16) {
	o.Plain = o.Fore
	if o.Fore < area.Outlined || o.Moved+o.Creep == 0 || o.Substance() > beyondGlare {
		return
	}
	if float64(o.Differs) < glareContrast*float64(o.ForeLimit) || float64(o.Brighter) < glaring*float64(o.Differs) {
		return
	}
	d.outstanding(j, o.Whole, d.scratch)
	o.Plain, o.Glared, o.Glow = 0, o.Fore, d.glow(o.Whole, now, &o.Outline, false)*float64(o.Fore)
	for y := o.Whole.Top; y < o.Whole.Bottom; y++ {
		clear(d.scratch[y*d.grid.width+o.Whole.Left : y*d.grid.width+o.Whole.Right])
	}
}

// outstanding marks those cells of object j, which are in a box, that differ from the background.
func (d *Detector) outstanding(j int, box area.Rect, marks []byte) {
	for _, r := range d.finder.RunsFrom(box.Top) {
		left, right, top, bottom := d.finder.Cells(r)
		if top >= box.Bottom {
			break
		}
		if d.finder.OfRun(r) != j {
			continue
		}
		for y := top; y < bottom; y++ {
			row := y * d.grid.width
			for x := left; x < right; x += 8 {
				for v := d.standing(d.flags, d.solid, row, x, right); v != 0; v &= v - 1 {
					marks[row+x+bits.TrailingZeros64(v)/8] = cellFore
				}
			}
		}
	}
}

// standing is stands for the cells from x on, of the row that begins at a cell, that are before the
// end.
func (d *Detector) standing(flags, solid []byte, row, x, end int) uint64 {
	if row+x+8 > len(solid) { // the picture's last cells
		v := uint64(0)
		for k := x; k < end; k++ {
			v |= uint64(solid[row+k]&flags[row+k]&cellFore) << (8 * (k - x))
		}
		return v
	}
	v := stands(solid[row+x:], flags[row+x:])
	if over := x + 8 - end; over > 0 {
		v = v << (8 * over) >> (8 * over)
	}
	return v
}

// glow is how little a beam of light would explain the cells marked in scratch, whose outline o is:
// on the scale of substance.
func (d *Detector) glow(box area.Rect, now []uint16, o *area.Outline, within bool) float64 {
	return glowOf * (d.keen(box, now, within) + d.uneven(box, now) + lostWeight*(float64(o.Lost)+6)/(float64(o.Own)+20))
}

// keen is the share of the border of the cells marked in scratch at which their brightness ends at
// once.
func (d *Detector) keen(box area.Rect, now []uint16, within bool) float64 {
	w, h := d.grid.width, d.grid.height
	ends, keen := 0, 0
	for y := box.Top; y < box.Bottom; y++ {
		for x := box.Left; x < box.Right; x++ {
			if d.scratch[y*w+x] == 0 {
				continue
			}
			for _, step := range [4][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
				u, v := x+2*step[0], y+2*step[1]
				if u < 0 || v < 0 || u >= w || v >= h {
					continue
				}
				i, by := y*w+x, step[1]*w+step[0]
				out := i + 2*by
				if d.scratch[i+by]|d.scratch[out] != 0 || !within && (d.flags[i+by]|d.flags[out])&cellFore != 0 {
					continue
				}
				deep, near := int32(0), int32(0)
				for k := 0; k <= glareDeep; k++ {
					if a, b := x-k*step[0], y-k*step[1]; a < 0 || b < 0 || a >= w || b >= h || d.scratch[i-k*by] == 0 {
						break
					}
					rise := abs32(int32(now[i-k*by]) - int32(d.model.background[i-k*by]))
					if k <= 1 {
						near = max(near, rise)
					}
					deep = max(deep, rise)
				}
				ends++
				if float64(near-abs32(int32(now[out])-int32(d.model.background[out]))) >= keenShare*float64(deep) {
					keen++
				}
			}
		}
	}
	return float64(keen) / float64(max(1, ends))
}

// uneven is how much of the difference from the background, of the cells marked in scratch, an even
// light does not explain.
func (d *Detector) uneven(box area.Rect, now []uint16) float64 {
	w, h := d.grid.width, d.grid.height
	background := d.model.background
	rest, rise := int64(0), int64(0)
	for y := box.Top; y < box.Bottom; y++ {
		for x := box.Left; x < box.Right; x++ {
			i := y*w + x
			if d.scratch[i] == 0 {
				continue
			}
			is, was := int64(512), int64(512)
			left, right := max(0, x-glareReach), min(w, x+glareReach+1)
			for v := max(0, y-glareReach); v < min(h, y+glareReach+1); v++ {
				row, under := now[v*w+left:v*w+right], background[v*w+left:v*w+right]
				for k, c := range row {
					is += int64(c)
					was += int64(under[k])
				}
			}
			is = is * int64(background[i]) / was
			rest += max(0, int64(abs32(int32(now[i])-int32(is)))-int64(d.model.noise[i])*3/2)
			rise += int64(abs32(int32(now[i]) - int32(background[i])))
		}
	}
	return float64(rest) / float64(max(1, rise))
}
