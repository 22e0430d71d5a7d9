package area

import "time"

// WornFull is the time of motion for which 255 stands in a cell of what has moved lately.
const WornFull = 4 * time.Second

// Most bounds the things looked at in one picture; the largest by what moves are kept.
const Most = 48

// Area is one connected area of one picture. The weights sum up how much cells differ, in 1/256
// grey levels, so that the faint shadow around a thing counts for little.
type Area struct {
	Cells  int // that differ, or are the place of what stands there
	Fore   int // cells that differ from the background
	Moved  int // cells that differ from a moment ago
	fresh  int // cells of moved away from where something stands
	now    int // cells that differ from the last picture but a blink
	nowNew int // cells of now away from where something stands
	Creep  int // cells that began to differ from the background lately
	Gone   int // cells of what stands there and has become background

	Outline // the edges in and around fore

	weight      int64 // of all: a cell's larger difference
	MovedWeight int64 // of moved: the difference from a moment ago
	MovedSquare int64 // of moved: the squares of the weights
	freshWeight int64
	nowWeight   int64 // of now: the difference from the blink before
	newWeight   int64
	openWeight  int64 // of all away from where something stands
	Differs     int64 // of fore: the difference from the background
	Brighter    int64 // of that, what is brighter
	ForeLimit   int64 // of fore: how much it took to count
	Limit       int64 // of moved: how much it took to count
	Worn        int64 // of moved: how much has moved there lately, as restless remembers it

	SumX, SumY     int64 // of fore, for its centre
	MovedX, MovedY int64 // of moved, for its centre

	Box   Rect // of what moved
	Whole Rect // of everything

	Left   bool // most of it is what a change of the light left: no thing that stands is so large
	Light  bool // differs as a light or a shadow does, without edges of its own
	Strong bool // moves, beyond doubt in this picture
	Weak   bool // may move
	Stirs  bool // still moves, if it did before
	Active bool // moves right now
	Creeps bool // advances slowly
	Shines bool // is a beam, and would stir if it were not
	Goes   bool // has been there for some time, and gets somewhere

	Since time.Time // if it goes: when it began to

	Track int // index of its track, -1 without
}

// Size is how many cells the thing itself has: what moved without the places that it left.
func (o *Area) Size() int {
	if o.Gone > 0 {
		return o.Moved
	}
	return min(o.Moved, o.Fore)
}

// CreepAge is how long ago, in ms, a cell may have begun to differ from the background to count as
// newly taken by something slow.
const CreepAge = 1500

// Telling tells whether the outline says what the area is: it must be large enough, and clear
// enough for its edges to be seen.
func (o *Area) Telling() bool {
	return o.Glared > 0 || o.Fore >= Outlined && o.Moved > 0 &&
		float64(o.MovedSquare)*float64(o.Moved) >= ClearContrast*float64(o.Limit)*float64(o.MovedWeight)
}

// SeemsLight tells whether an area has too few edges for a thing.
func (o *Area) SeemsLight() bool {
	// of a square, eight times the square root of its area
	return o.Steep()*o.Steep() < 9*o.Fore || o.Telling() && o.Substance() < LightSubstance
}

// Judge decides what one area does. Something that stands and stirs changes a small part of its own
// area, and in its own place; something that walks changes most of it, or takes new ground.
func (o *Area) Judge(minMoved int) {
	half := max(2, minMoved/2)
	all := float64(o.weight)
	if o.Gone > 0 && o.Moved > 0 { // what became background weighs as much as what moves of it
		all += float64(o.Gone) * float64(o.MovedWeight) / float64(o.Moved)
	}
	moved, fresh := float64(o.MovedWeight), float64(o.freshWeight)
	// Who walks through what a change of the light left is one area with it, and a small part of
	// that: they are looked at beside it.
	beside := o.Left && o.Glared == 0 && o.Gone+o.Fore >= 8*o.fresh && fresh >= 0.5*float64(o.openWeight)
	o.Strong = o.Moved >= minMoved && (moved >= 0.4*all || o.fresh >= minMoved && (fresh >= 0.15*all || beside))
	o.Weak = o.Strong || o.Moved >= half && (moved >= 0.2*all || o.fresh >= half && (fresh >= 0.08*all || beside))
	o.Stirs = o.Weak || o.Moved >= half && (moved >= 0.15*all || o.fresh >= half && (fresh >= 0.06*all || beside))
	o.Active = o.now >= half && (float64(o.nowWeight) >= 0.09*all || o.nowNew >= half &&
		(float64(o.newWeight) >= 0.045*all || beside && float64(o.newWeight) >= 0.12*float64(o.openWeight)))
	if o.Light && o.Gone == 0 {
		o.Shines = o.Stirs && o.Glared > 0
		o.Strong, o.Weak, o.Stirs = false, false, false
	}
	o.Creeps = o.Moved >= 2 && o.Creep >= minMoved && float64(o.Creep) >= 0.15*float64(o.Fore) && 2*o.Fore >= o.Cells &&
		!(o.Light && o.Glared > 0)
}

// Place is where an area moves.
func (o *Area) Place() Rect {
	if o.Box.Empty() {
		return o.Whole
	}
	return o.Box
}

// Wake tells whether an area is only where something small was a moment ago, and is no more: what
// flies, and does not walk, is away from its wake. Only what is larger may have such parts.
func (o *Area) Wake(small int) bool { return o.Moved < small && o.Gone == 0 && 8*o.Fore < o.Moved }
