package motion

// standsAtMost is the part of the picture that a thing takes which stands there: a quarter.
const standsAtMost = 4

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
	openWeight  int // of all away from where something stands
	differs     int // of fore: the difference from the background
	brighter    int // of that, what is brighter
	foreLimit   int // of fore: how much it took to count
	limit       int // of moved: how much it took to count
	worn        int // of moved: how much has moved there lately, as restless remembers it

	sumX, sumY     int // of fore, for its centre
	movedX, movedY int // of moved, for its centre

	box   rect // of what moved
	whole rect // of everything

	left   bool // most of it is what a change of the light left: no thing that stands is so large
	light  bool // differs as a light or a shadow does, without edges of its own
	strong bool // moves, beyond doubt in this picture
	weak   bool // may move
	stirs  bool // still moves, if it did before
	active bool // moves right now
	creeps bool // advances slowly
	shines bool // is a beam, and would stir if it were not

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
	return o.glared > 0 || o.fore >= outlined && o.moved > 0 && float64(o.movedSquare)*float64(o.moved) >= clearContrast*float64(o.limit)*float64(o.movedWeight)
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
	// Who walks through what a change of the light left is one area with it, and a small part of that: they are looked at beside it.
	beside := o.left && o.glared == 0 && o.gone+o.fore >= 8*o.fresh && fresh >= 0.5*float64(o.openWeight)
	o.strong = o.moved >= minMoved && (moved >= 0.4*all || o.fresh >= minMoved && (fresh >= 0.15*all || beside))
	o.weak = o.strong || o.moved >= half && (moved >= 0.2*all || o.fresh >= half && (fresh >= 0.08*all || beside))
	o.stirs = o.weak || o.moved >= half && (moved >= 0.15*all || o.fresh >= half && (fresh >= 0.06*all || beside))
	o.active = o.now >= half && (float64(o.nowWeight) >= 0.09*all || o.nowNew >= half && (float64(o.newWeight) >= 0.045*all || beside && float64(o.newWeight) >= 0.12*float64(o.openWeight)))
	if o.light && o.gone == 0 {
		o.shines = o.stirs && o.glared > 0
		o.strong, o.weak, o.stirs = false, false, false
	}
	o.creeps = o.moved >= 2 && o.creep >= minMoved && float64(o.creep) >= 0.15*float64(o.fore) && 2*o.fore >= o.cells && !(o.light && o.glared > 0)
}

// minCells is the least number of cells for a share of the picture.
func (d *Detector) minCells(share float64) int {
	return max(3, int(share*float64(d.grid.cells())+0.5))
}

// find finds the connected areas and judges them.
func (d *Detector) find(now, before []uint16, light exposure, minMoved int) []object {
	blink, blinkLight := now, sameExposure
	if short := d.history.near(shortLag); short != nil {
		blink = short.cells
		d.light.look(d.history.current().samples, d.flags, cellFore|cellMoved)
		d.looked = true
		blinkLight = d.light.fit(short.samples)
	}
	v := d.views(now, before, blink, light, blinkLight)
	d.labels.label(d.grid, d.solid, d.model.parked)
	objects := d.labels.collect(d, &v, max(2, minMoved/2))
	for i := range objects {
		o := &objects[i]
		d.glare(i, o, now)
		// A thing with its soft shadow is half light: its core says better what it is.
		if o.light = o.seemsLight(); (o.light || o.glared == 0 && o.substance() < thingSubstance) && d.core(i, o, now) {
			o.light = false
		}
		o.left = o.cells >= d.grid.cells()/standsAtMost
		o.judge(minMoved)
		if float64(o.moved) > fillsPicture*float64(d.grid.cells()) {
			o.strong, o.weak, o.stirs, o.creeps = false, false, false, false
			d.upset = true
		}
	}
	return objects
}
