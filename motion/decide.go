package motion

import (
	"encoding/binary"
	"time"
)

// decide takes the tracks' state into the spans.
func (d *Detector) decide(objects []object, dt time.Duration) {
	for i := range d.spans {
		s := &d.spans[i]
		e := evidence{at: d.at, dt: dt, wall: d.seen, may: d.upheaves || d.at <= d.blursTill}
		d.inside, d.things = d.inside[:0], d.things[:0]
		for j := range objects {
			o := &objects[j]
			if o.track < 0 {
				continue
			}
			moved := o.moved + o.creep
			if i > 0 {
				moved = d.movedIn(j, o, uint64(1)<<(i-1))
				if moved < d.minCells(s.share) && 4*moved < o.moved+o.creep || moved == 0 {
					continue
				}
			}
			k := &d.tracks.tracks[o.track]
			e.may = true
			if !k.live {
				continue
			}
			if e.track == nil || k.id < e.track.id {
				e.track = k
			}
			e.moved += moved
			if len(d.inside) < maxBoxes {
				box := d.box(o)
				d.inside = append(d.inside, box)
				d.things = append(d.things, thing{k.id, o.cells, box, d.seen})
			}
		}
		e.boxes, e.things = d.inside, d.things
		d.changes = s.step(e, d.config, d.changes)
	}
	held, lights, marks := false, false, [maxObjects]byte{}
	for j := range objects {
		o := &objects[j]
		if o.weak {
			d.share += float64(o.moved) / float64(d.grid.cells())
			if len(d.boxes) < maxBoxes {
				d.boxes = append(d.boxes, d.box(o))
			}
		}
		if o.light && o.gone == 0 {
			lights = true
			continue
		}
		switch {
		case o.track >= 0 && d.tracks.tracks[o.track].live, o.strong && o.cells >= d.tracks.small, o.light:
			marks[j], held = heldMoves, true
		case o.cells >= d.tracks.small:
			marks[j], held = heldLarge, true
		}
	}
	if held {
		d.hold(&marks)
	}
	for j := 0; lights && j < len(objects); j++ {
		if o := &objects[j]; o.light && o.gone == 0 {
			d.follow(j, o)
		}
	}
}

// movedIn counts the cells of object number j that move inside the region of the bit.
func (d *Detector) movedIn(j int, o *object, bit uint64) int {
	n := 0
	for y := o.whole.top; y < o.whole.bottom; y++ {
		for x := o.whole.left; x < o.whole.right; x++ {
			i := y*d.grid.width + x
			if d.inRegion[i]&bit != 0 && d.solid[i] != 0 && d.labels.of(x, y) == j && (d.flags[i]&cellMoved != 0 || o.creeps) {
				n++
			}
		}
	}
	return n
}

// hold marks the solid cells of objects, but those where something always moves. Nothing is marked yet.
func (d *Detector) hold(marks *[maxObjects]byte) {
	d.heldAny = true
	w := d.grid.width
	for _, r := range d.labels.runs {
		j := d.labels.number[r.label]
		if j < 0 || marks[j] == 0 {
			continue
		}
		from, to := 2*int(r.from), min(2*int(r.to), w)
		for y := 2 * int(r.y); y < min(2*int(r.y)+2, d.grid.height); y++ {
			d.holdRow(y*w+from, y*w+to, marks[j])
		}
	}
}

// holdRow is hold for the cells from..to of one row, eight at a time.
func (d *Detector) holdRow(from, to int, mark byte) {
	const low, high = 0x0101010101010101, 0x8080808080808080
	held, solid, memory := d.held, d.solid, d.habit.memory
	for ; from < to && from+8 <= len(held); from += 8 {
		v, worn := word(solid[from:from+8])*uint64(mark), word(memory[from:from+8])
		if worn &= (worn&^high + (256-uint64(restlessAt))*low) & high; worn != 0 { // rarely: restlessAt is above 128
			v &^= worn >> 7 * 255
		}
		if from+8 > to {
			v &= 1<<(8*(to-from)) - 1
		}
		row := held[from : from+8]
		binary.LittleEndian.PutUint64(row, word(row)|v)
	}
	for ; from < to; from++ { // the picture's last cells
		if memory[from] < restlessAt {
			held[from] = solid[from] * mark
		}
	}
}

// follow lets the background follow an object that is light.
func (d *Detector) follow(j int, o *object) {
	for y := o.whole.top; y < o.whole.bottom; y++ {
		for x := o.whole.left; x < o.whole.right; x++ {
			if i := y*d.grid.width + x; d.solid[i] != 0 && d.labels.of(x, y) == j {
				if o.glared > 0 {
					d.unlit.keep(i, d.model.background[i])
				}
				d.flags[i] &^= cellFore
				d.looked = false
				d.held[i] = heldMoves
				d.heldAny = true
			}
		}
	}
}

// box is the object's box of what moves, in fractions of the picture.
func (d *Detector) box(o *object) Box {
	r := o.box
	if r.empty() {
		r = o.whole
	}
	w, h, side := float64(d.grid.pictureWidth), float64(d.grid.pictureHeight), float64(d.grid.side)
	return Box{
		Left: float64(r.left) * side / w, Top: float64(r.top) * side / h,
		Right: min(1, float64(r.right)*side/w), Bottom: min(1, float64(r.bottom)*side/h),
	}
}
