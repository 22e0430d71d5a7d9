package motion

import (
	"time"

	"vmsbridge/motion/area"
	"vmsbridge/motion/plane"
)

// Times of the places in which something always moves.
const (
	restlessAfter = 2500 * time.Millisecond // of motion within a short time, after which a place counts as restless
	restlessFades = 40 * time.Second        // for which nothing may move until a full memory is empty
	dwellsAfter   = 12 * time.Second        // in one place, after which even a confirmed track makes its place restless
	restlessParts = 4                       // of the cells, one of which is taken at each picture
)

// restlessAt is the memory from which a cell counts as restless.
const restlessAt = uint8(255 * restlessAfter / area.WornFull)

// restless remembers for each cell how much has moved there lately that went nowhere: trees, water,
// flags, the digits of a clock. There the noise may rise as high as it likes, also during an event.
// What passes through on its way teaches nothing.
type restless struct {
	memory []uint8
	passed [restlessParts]time.Duration // since each part of the cells was taken
	turn   int
}

func (r *restless) resize(cells int) { *r = restless{memory: make([]uint8, cells)} }

// learn takes the newest picture, dt after the one before. Passing has a bit for each of its areas
// that is on its way.
func (r *restless) learn(d *Detector, passing uint64, dt time.Duration) {
	for i := range r.passed {
		r.passed[i] += dt
	}
	n := len(r.memory)
	from, to := n*r.turn/restlessParts, n*(r.turn+1)/restlessParts
	ms := int(min(r.passed[r.turn], 2*time.Second).Milliseconds())
	r.passed[r.turn] = 0
	r.turn = (r.turn + 1) % restlessParts
	up := 255 * ms / int(area.WornFull.Milliseconds())
	down := max(1, 255*ms/int(restlessFades.Milliseconds()))
	if passing != 0 {
		d.mark(passing, from, to)
	}
	plane.Wear(r.memory[from:to], d.flags[from:to], d.scratch[from:to], uint8(up), uint8(down))
	if passing != 0 {
		clear(d.scratch[from:to])
	}
}

// mark copies to scratch which of the cells from..to of the objects in a set of bits are solid.
func (d *Detector) mark(objects uint64, from, to int) {
	w := d.grid.width
	for _, r := range d.finder.RunsFrom(from / w) {
		left, right, top, bottom := d.finder.Cells(r)
		if top*w >= to {
			break
		}
		j := d.finder.OfRun(r)
		if j < 0 || objects>>j&1 == 0 {
			continue
		}
		for y := top; y < bottom; y++ {
			first, last := max(from, y*w+left), min(to, y*w+right)
			if first < last {
				copy(d.scratch[first:last], d.solid[first:last])
			}
		}
	}
}

// passing has a bit for each object of the picture that is of something on its way.
func (d *Detector) passing() (set uint64) {
	for j := range d.objects {
		if d.objects[j].Track < 0 {
			continue
		}
		if d.tracks.Tracks[d.objects[j].Track].Passes(d.at, dwellsAfter) {
			set |= 1 << j
		}
	}
	return set
}
