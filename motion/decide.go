package motion

import (
	"encoding/binary"
	"slices"
	"time"

	"vmsbridge/motion/area"
	"vmsbridge/motion/track"
)

// decide takes the tracks' state into the spans.
func (d *Detector) decide(dt time.Duration) {
	for i := range d.spans {
		s := &d.spans[i]
		e := evidence{at: d.at, dt: dt, wall: d.seen, boxes: d.inside[:0], things: d.things[:0]}
		d.attest(&e, i, s)
		if d.keener != nil && s.keen {
			d.keener.attest(&e, i, s)
		}
		d.inside, d.things = e.boxes, e.things
		d.changes = s.step(e, d.config, d.changes)
	}
	if d.tracks.Learning { // it is learned everywhere
		return
	}
	held, lights, marks := false, false, [area.Most]byte{}
	for j := range d.objects {
		o := &d.objects[j]
		if o.Weak {
			d.moving += float64(o.Moved) / float64(d.grid.cells())
			if len(d.boxes) < maxBoxes {
				d.boxes = append(d.boxes, d.box(o))
			}
		}
		if o.Light && o.Gone == 0 {
			lights = true
			continue
		}
		switch {
		case o.Track >= 0 && d.tracks.Tracks[o.Track].Live, o.Strong && o.Cells >= d.tracks.Small(), o.Light:
			marks[j], held = heldMoves, true
		case o.Cells >= d.tracks.Small():
			marks[j], held = heldLarge, true
		}
	}
	if held {
		d.hold(&marks)
	}
	for j := 0; lights && j < len(d.objects); j++ {
		if o := &d.objects[j]; o.Light && o.Gone == 0 {
			d.follow(j, o)
		}
	}
}

// attest takes what the newest picture says of span number i into its evidence.
func (d *Detector) attest(e *evidence, i int, s *span) {
	e.may = e.may || d.upheaves || d.at <= d.blursTill
	known := len(e.boxes)
	for j := range d.objects {
		o := &d.objects[j]
		if o.Track < 0 {
			continue
		}
		k, all := &d.tracks.Tracks[o.Track], o.Moved+o.Creep
		counts := d.counts(s, o, k)
		if !counts && all < max(2, d.minCells(s.share)/2) {
			continue
		}
		moved := all
		if i > 0 {
			moved = d.movedIn(j, o, uint64(1)<<(i-1))
			if moved < d.minCells(s.share) && 4*moved < all || moved == 0 {
				continue
			}
		}
		e.may = true
		if !k.Live || !counts {
			continue
		}
		if e.track == nil || k.Start.Before(e.track.Start) {
			e.track = k
		}
		box := d.box(o)
		if len(e.boxes) < maxBoxes && !slices.ContainsFunc(e.boxes[:known], box.meets) {
			e.boxes = append(e.boxes, box)
			e.things = append(e.things, thing{k.ID, d.clear(o), box, d.seen})
		}
	}
}

// counts reports whether an object of a track is large and clear enough for a span: what is looked
// for may be smaller and fainter than it wants. As much must move for it to begin as if it stood
// alone, and half of that to go on. What is clear and large enough for the default is left to that,
// at each sensitivity: looked at more keenly, a tree in the wind is one large thing.
func (d *Detector) counts(s *span, o *area.Area, k *track.Track) bool {
	least, contrast := float64(d.minCells(shareFor(DefaultSensitivity))), float64(contrastFor(DefaultSensitivity))
	switch {
	case d.spans != nil && d.share >= s.share:
		return true
	case d.spans == nil && k.Contrast() >= area.ClearContrast*contrast && k.Largest() >= 2*least:
		return false
	}
	enough := d.minCells(s.share)
	if s.open || s.waiting {
		return k.Contrast() >= s.contrast && o.Moved+o.Creep >= max(2, enough/2)
	}
	return k.Contrast() >= s.contrast && max(o.Moved, o.Creep) >= enough
}

// clear is how many cells of an object are in sight, half of them if the border cuts it.
func (d *Detector) clear(o *area.Area) int {
	w := o.Whole
	if w.Left == 0 || w.Top == 0 || w.Right >= d.grid.width || w.Bottom >= d.grid.height {
		return o.Cells / 2
	}
	return o.Cells
}

// movedIn counts the cells of object number j that move inside the region of the bit.
func (d *Detector) movedIn(j int, o *area.Area, bit uint64) int {
	n := 0
	for y := o.Whole.Top; y < o.Whole.Bottom; y++ {
		for x := o.Whole.Left; x < o.Whole.Right; x++ {
			i := y*d.grid.width + x
			if d.inRegion[i]&bit != 0 && d.solid[i] != 0 && d.finder.Of(x, y) == j &&
				(d.flags[i]&cellMoved != 0 || o.Creeps) {
				n++
			}
		}
	}
	return n
}

// hold marks the solid cells of objects, but those where something always moves, in the half that
// is learned from this picture. Nothing is marked yet.
func (d *Detector) hold(marks *[area.Most]byte) {
	d.heldAny = true
	w := d.grid.width
	first, end := d.half()
	for _, r := range d.finder.RunsFrom(first / w) {
		from, to, top, bottom := d.finder.Cells(r)
		if top*w >= end {
			break
		}
		j := d.finder.OfRun(r)
		if j < 0 || marks[j] == 0 {
			continue
		}
		for y := top; y < bottom; y++ {
			d.holdRow(max(first, y*w+from), min(end, y*w+to), marks[j])
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
func (d *Detector) follow(j int, o *area.Area) {
	for y := o.Whole.Top; y < o.Whole.Bottom; y++ {
		for x := o.Whole.Left; x < o.Whole.Right; x++ {
			if i := y*d.grid.width + x; d.solid[i] != 0 && d.finder.Of(x, y) == j {
				if o.Glared > 0 {
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
func (d *Detector) box(o *area.Area) Box {
	r := o.Box
	if r.Empty() {
		r = o.Whole
	}
	w, h, side := float64(d.grid.pictureWidth), float64(d.grid.pictureHeight), float64(d.grid.side)
	return Box{
		Left: float64(r.Left) * side / w, Top: float64(r.Top) * side / h,
		Right: min(1, float64(r.Right)*side/w), Bottom: min(1, float64(r.Bottom)*side/h),
	}
}
