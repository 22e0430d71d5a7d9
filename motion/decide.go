package motion

import (
	"encoding/binary"
	"time"

	"vmsbridge/motion/plane"
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
		mark := byte(0)
		if j := d.labels.number[r.label]; j >= 0 {
			mark = marks[j]
		}
		from, to := 2*int(r.from), min(2*int(r.to), w)
		for y := 2 * int(r.y); y < min(2*int(r.y)+2, d.grid.height); y++ {
			if row := d.held[y*w+from : (y+1)*w]; to-from <= 16 && len(row) >= 16 { // mostly
				word := uint64(mark) * 0x0101010101010101
				binary.LittleEndian.PutUint64(row, word)
				binary.LittleEndian.PutUint64(row[8:], word)
			} else {
				fill(row, to-from, mark)
			}
		}
	}
	from, to := 2*d.labels.from*w, min(2*d.labels.to, d.grid.height)*w
	plane.Keep(d.held[from:to], d.solid[from:to], d.habit.memory[from:to], restlessAt)
}

// fill sets the first n bytes of a row, mostly few, and maybe some of those that follow.
func fill(row []byte, n int, v byte) {
	word := uint64(v) * 0x0101010101010101
	for ; n > 0 && len(row) >= 8; n -= 8 {
		binary.LittleEndian.PutUint64(row, word)
		row = row[8:]
	}
	for i := 0; i < n; i++ {
		row[i] = v
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
