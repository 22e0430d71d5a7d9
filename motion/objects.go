package motion

import "math/bits"

// maxObjects bounds the things looked at in one picture; the largest by what moves are kept.
const maxObjects = 48

// object is one connected area of one picture. The weights sum up how much cells differ, in 1/256 grey levels, so that the faint shadow
// around a thing counts for little.
type object struct {
	cells  int // that differ, or are the place of what stands there
	fore   int // cells that differ from the background
	moved  int // cells that differ from a moment ago
	fresh  int // cells of moved away from where something stands
	now    int // cells that differ from the last picture but a blink
	nowNew int // cells of now away from where something stands
	creep  int // cells that began to differ from the background lately
	gone   int // cells of what stands there and has become background

	outline // the edges in and around fore

	weight      int // of all: a cell's larger difference
	movedWeight int // of moved: the difference from a moment ago
	movedSquare int // of moved: the squares of the weights
	freshWeight int
	nowWeight   int // of now: the difference from the blink before
	newWeight   int
	limit       int // of moved: how much it took to count
	worn        int // of moved: how much has moved there lately, as restless remembers it

	sumX, sumY     int // of fore, for its centre
	movedX, movedY int // of moved, for its centre

	box   rect // of what moved
	whole rect // of everything

	light  bool // differs as a light or a shadow does, without edges of its own
	strong bool // moves, beyond doubt in this picture
	weak   bool // may move
	stirs  bool // still moves, if it did before
	active bool // moves right now
	creeps bool // advances slowly

	track int // index of its track, -1 without
}

// rect is a box in cells; right and bottom are exclusive.
type rect struct{ left, top, right, bottom int }

var noRect = rect{left: 1 << 30, top: 1 << 30, right: -1, bottom: -1}

func (r rect) empty() bool { return r.right <= r.left || r.bottom <= r.top }

func (r *rect) add(x, y int) {
	r.left, r.top = min(r.left, x), min(r.top, y)
	r.right, r.bottom = max(r.right, x+1), max(r.bottom, y+1)
}

func (r rect) union(o rect) rect {
	return rect{min(r.left, o.left), min(r.top, o.top), max(r.right, o.right), max(r.bottom, o.bottom)}
}

// collect measures the labelled areas, and keeps those in which at least minMoved cells moved or crept.
func (l *labeler) collect(d *Detector, v *views, minMoved int) []object {
	l.objects = l.objects[:0]
	number := l.number[:len(l.parent)]
	// The first pass only counts, so that the many small areas of a noisy picture need no place among the objects.
	counts := d.counts[:len(l.parent)]
	clear(counts)
	for y := l.from; y < l.to; y++ {
		for w, set := range l.set[y*l.words : (y+1)*l.words] {
			for ; set != 0; set &= set - 1 {
				x := w*64 + bits.TrailingZeros64(set)
				if n := d.restless(2*x, 2*y); n > 0 {
					counts[l.root(l.tile[y*l.width+x])] += n
				}
			}
		}
	}
	for i := range number {
		number[i] = -1
		if int(counts[i]) < minMoved || l.parent[i] != uint16(i) || i == 0 {
			continue
		}
		at := len(l.objects)
		if at == maxObjects { // the smallest makes room, if it is smaller
			at = 0
			for k := range l.objects {
				if l.objects[k].cells < l.objects[at].cells {
					at = k
				}
			}
			if l.objects[at].cells >= int(counts[i]) {
				continue
			}
			for k := range i {
				if number[k] == int16(at) {
					number[k] = -1
				}
			}
			l.objects[at] = object{}
		} else {
			l.objects = l.objects[:at+1]
		}
		l.objects[at] = object{cells: int(counts[i]), box: noRect, whole: noRect, track: -1}
		number[i] = int16(at)
	}
	if len(l.objects) == 0 {
		return nil
	}
	for i := range l.objects {
		l.objects[i].cells = 0
	}
	for i := 1; i < len(number); i++ {
		number[i] = number[l.root(uint16(i))]
	}
	for y := l.from; y < l.to; y++ {
		for w, set := range l.set[y*l.words : (y+1)*l.words] {
			for ; set != 0; set &= set - 1 {
				bit := bits.TrailingZeros64(set)
				x := w*64 + bit
				if k := number[l.tile[y*l.width+x]]; k >= 0 {
					d.measure(&l.objects[k], v, 2*x, 2*y, l.near[y*l.words+w]>>bit&1 == 0)
				}
			}
		}
	}
	return l.objects
}

// restless counts the cells of the tile at cell x0, y0 that moved, or began to differ from the background lately.
func (d *Detector) restless(x0, y0 int) int32 {
	n := int32(0)
	for y := y0; y < min(y0+2, d.grid.height); y++ {
		for i, end := y*d.grid.width+x0, y*d.grid.width+min(x0+2, d.grid.width); i < end; i++ {
			if d.solid[i] == 0 {
				continue
			}
			f := d.flags[i]
			if f&cellMoved != 0 || f&cellFore != 0 && d.model.stay[i] < creepAge && d.model.parked[i] == 0 {
				n++
			}
		}
	}
	return n
}

// views are the pictures in which areas are measured, and the light that makes the earlier ones comparable.
type views struct {
	now           []uint16
	before, blink []uint16 // the long and the short lag ago
	light         exposure // since before
	blinkLight    exposure // since blink
}

// measure adds the cells of the tile at cell x0, y0 to its object; away tells that nothing has been standing there.
func (d *Detector) measure(o *object, v *views, x0, y0 int, away bool) {
	m := &d.model
	for y := y0; y < min(y0+2, d.grid.height); y++ {
		for x := x0; x < min(x0+2, d.grid.width); x++ {
			i := y*d.grid.width + x
			solid := d.solid[i] != 0
			if !solid {
				if m.parked[i] != 0 {
					o.cells++
				}
				if m.parked[i] > parkedFor {
					o.gone++
				}
				continue
			}
			o.cells++
			o.whole.add(x, y)
			f, now := d.flags[i], int32(v.now[i])
			limit := threshold(d.contrast, m.noise[i])
			weight := 0
			if f&cellFore != 0 {
				o.fore++
				o.sumX += x
				o.sumY += y
				weight = int(abs32(now - int32(m.background[i])))
				if m.stay[i] < creepAge && m.parked[i] == 0 {
					o.creep++
				}
				o.trace(d, d.flags, v.now, x, y, limit)
			}
			if f&cellMoved != 0 {
				w := int(abs32(now - v.light.apply(v.before[i])))
				weight = max(weight, w)
				o.moved++
				o.movedX += x
				o.movedY += y
				o.movedWeight += w
				o.movedSquare += w * w
				o.limit += int(limit)
				o.worn += int(d.habit.memory[i])
				o.box.add(x, y)
				if away {
					o.fresh++
					o.freshWeight += w
				}
			}
			if w := abs32(now - v.blinkLight.apply(v.blink[i])); w > limit {
				o.now++
				o.nowWeight += int(w)
				if away {
					o.nowNew++
					o.newWeight += int(w)
				}
			}
			o.weight += weight
		}
	}
}

// size is how many cells the thing itself has: what moved without the places that it left.
func (o *object) size() int {
	if o.gone > 0 {
		return o.moved
	}
	return min(o.moved, o.fore)
}

// creepAge is how long ago, in ms, a cell may have begun to differ from the background to count as newly taken by something slow.
const creepAge = 1500

// telling tells whether the outline says what the area is: it must be large enough, and clear enough for its edges to be seen.
func (o *object) telling() bool {
	return o.fore >= outlined && o.moved > 0 && float64(o.movedSquare)*float64(o.moved) >= clearContrast*float64(o.limit)*float64(o.movedWeight)
}

// seemsLight tells whether an area has too few edges for a thing.
func (o *object) seemsLight() bool {
	return o.steep()*o.steep() < 9*o.fore || o.telling() && o.substance() < lightSubstance // of a square, eight times the square root of its area
}

// judge decides what one object does. Something that stands and stirs changes a small part of its own area, and in its own place; something
// that walks changes most of it, or takes new ground.
func (o *object) judge(minMoved int) {
	half := max(2, minMoved/2)
	all := float64(o.weight)
	if o.gone > 0 && o.moved > 0 { // what became background weighs as much as what moves of it
		all += float64(o.gone) * float64(o.movedWeight) / float64(o.moved)
	}
	moved, fresh := float64(o.movedWeight), float64(o.freshWeight)
	o.strong = o.moved >= minMoved && (moved >= 0.4*all || o.fresh >= minMoved && fresh >= 0.15*all)
	o.weak = o.strong || o.moved >= half && (moved >= 0.2*all || o.fresh >= half && fresh >= 0.08*all)
	o.stirs = o.weak || o.moved >= half && (moved >= 0.15*all || o.fresh >= half && fresh >= 0.06*all)
	o.active = o.now >= half && (float64(o.nowWeight) >= 0.09*all || o.nowNew >= half && float64(o.newWeight) >= 0.045*all)
	if o.light && o.gone == 0 {
		o.strong, o.weak, o.stirs = false, false, false
	}
	o.creeps = o.moved >= 2 && o.creep >= minMoved && float64(o.creep) >= 0.15*float64(o.fore) && 2*o.fore >= o.cells
}
