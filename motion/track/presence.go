package track

import (
	"math"
	"time"

	"vmsbridge/motion/area"
)

// What is small hardly differs from what was there a moment ago. But it differs from the
// background in each picture, close to where it did in the last one, and gets somewhere. Insects,
// drops and flakes are elsewhere in the next picture; twigs and flags come back. The numbers are
// from the making part of scripts/lab/accuracy: of its presences those that are somebody go 0.5 to
// 5 of their size, straight, where nothing has moved before. What is larger is left to the rules
// for what moves: somebody who stands and stirs sways by as much.
const (
	presenceCells = 6                       // that differ from the background, at least
	presenceEdged = 36                      // times that, at least, the square of its sharp edges: of a square, 64
	presenceHop   = 0.8                     // of its size (square root of its cells), from picture to picture at most
	presenceAlike = 3                       // times as many cells, at most, as before
	presenceLost  = 600 * time.Millisecond  // without a picture of it, after which it is given up
	presenceFor   = 1600 * time.Millisecond // sum of its pictures, at least
	presenceWay   = 0.45                    // of its size, that it must go
	presenceLine  = 0.6                     // share of its way by which it must be away from where it began
	presenceWorn  = 0.3                     // s for which its places have been moving lately, at most
	presenceBegan = 0.1                     // of its size, by which it is away when it begins to go
	// where it had been, after which it rests there: a lamp that is carried sways back for less
	presenceRests = 400 * time.Millisecond
	presenceFade  = 2.5  // s over which it is looked at where it goes
	presenceShare = 0.3  // s over which its size and its centre are smoothed
	presenceMoves = 0.06 // of its cells that move, at least, on the mean of presenceStir: of a screen 0 to 0.05,
	// of somebody in the dark 0.07 to 0.25
	presenceFalls = 0.4 // the same of what goes straight down: of a drop on the lens 0.03 to 0.35, of people 0.46
	presencePlumb = 0.2 // of its way down, that it goes aside at most while it goes straight down
	presenceStir  = 1.0 // s
)

// presence is something that differs from the background over many pictures.
type presence struct {
	seenAt       time.Duration
	seen         time.Duration // sum of the pictures that showed it
	began        time.Time     // when it last rested where it had been
	rests        time.Duration // for how long it has been there
	taken        bool          // by an area of this picture
	cells        float64       // smoothed
	moves        float64       // share of them that moves, smoothed
	went         bool          // it has been found to go
	x, y         float64       // its centre, in cells
	nowX, nowY   float64       // the same, smoothed
	fromX, fromY float64       // where that was some time ago
	way          float64       // how far it went from there
	worn         float64       // for how long the places where it moves have been moving, in seconds, smoothed
}

// attend takes the areas of a picture into what is present, and marks those that go somewhere.
func (t *Tracker) attend(areas []area.Area, at, dt time.Duration, wall time.Time) {
	kept := t.present[:0]
	for _, p := range t.present {
		if at-p.seenAt <= max(presenceLost, 2*dt) {
			p.taken = false
			kept = append(kept, p)
		}
	}
	t.present = kept
	for i := range areas {
		o := &areas[i]
		if o.Fore < presenceCells || o.Light || o.Steep()*o.Steep() < presenceEdged*o.Fore {
			continue
		}
		x, y := float64(o.SumX)/float64(o.Fore), float64(o.SumY)/float64(o.Fore)
		p := t.presenceAt(x, y, float64(o.Fore))
		switch {
		case p != nil:
			p.take(o, x, y, at, dt, wall)
			if o.Goes = o.Fore < t.small && !t.Flurries() && p.goes(t.Early); o.Goes {
				o.Since, p.went = p.began, true
			}
		case len(t.present) < cap(t.present):
			began, rests := t.beganAt(x, y, float64(o.Fore), wall)
			t.present = append(t.present, presence{seenAt: at, seen: dt, began: began, rests: rests, taken: true,
				cells: float64(o.Fore), x: x, y: y, nowX: x, nowY: y, fromX: x, fromY: y})
		}
	}
}

// beganAt is when a new presence at x, y with so many cells began to go, and for how long it has
// been at rest. By night somebody falls into parts: what is seen anew as close as that to another
// one that goes may be the same thing, and began with it.
func (t *Tracker) beganAt(x, y, cells float64, wall time.Time) (began time.Time, rests time.Duration) {
	began, rests = wall, presenceRests
	for i := range t.present {
		p := &t.present[i]
		if p.rests == 0 && p.began.Before(began) &&
			math.Hypot(x-p.x, y-p.y) <= math.Sqrt(p.cells)+math.Sqrt(cells) {
			began, rests = p.began, 0
		}
	}
	return began, rests
}

// presenceAt is the nearest presence that may be next at x, y with so many cells, nil without.
func (t *Tracker) presenceAt(x, y, cells float64) (nearest *presence) {
	least := math.Inf(1)
	for i := range t.present {
		p := &t.present[i]
		gap := math.Hypot(x-p.x, y-p.y)
		if !p.taken && gap < least && gap <= presenceHop*math.Sqrt(p.cells) &&
			cells <= presenceAlike*p.cells && p.cells <= presenceAlike*cells {
			nearest, least = p, gap
		}
	}
	return nearest
}

// take takes an area of the newest picture, whose centre is at x, y.
func (p *presence) take(o *area.Area, x, y float64, at, dt time.Duration, wall time.Time) {
	since := (at - p.seenAt).Seconds()
	share, fade := 1-math.Exp(-since/presenceShare), math.Exp(-since/presenceFade)
	p.taken, p.seenAt, p.seen, p.x, p.y = true, at, p.seen+dt, x, y
	p.cells += (float64(o.Fore) - p.cells) * share
	p.moves += (float64(o.Moved)/float64(o.Fore) - p.moves) * (1 - math.Exp(-since/presenceStir))
	if o.Moved > 0 {
		p.worn += (float64(o.Worn)/float64(o.Moved)*area.WornFull.Seconds()/255 - p.worn) * share
	}
	p.fromX, p.fromY, p.way = p.nowX+(p.fromX-p.nowX)*fade, p.nowY+(p.fromY-p.nowY)*fade, p.way*fade
	dx, dy := share*(x-p.nowX), share*(y-p.nowY)
	p.nowX, p.nowY, p.way = p.nowX+dx, p.nowY+dy, p.way+math.Hypot(dx, dy)
	if p.rests += dt; p.away() >= presenceBegan*math.Sqrt(p.cells) {
		p.rests = 0
	} else if p.rests >= presenceRests {
		p.began = wall
	}
}

// away is how far it is from where it was some time ago, in cells.
func (p *presence) away() float64 { return math.Hypot(p.nowX-p.fromX, p.nowY-p.fromY) }

// goes reports whether it has been there for long enough, and gets somewhere. Early, when little is
// known of what always moves, half as much of that tells: a flag was seen for 0.2 s, people for
// 0.13 at most. What it is made of must move as well: of a screen the light moves, and nothing
// with it, and a drop runs straight down the lens.
func (p *presence) goes(early bool) bool {
	d, worn := p.away(), presenceWorn
	if early {
		worn /= 2
	}
	moves, down := presenceMoves, p.nowY-p.fromY
	if math.Abs(p.nowX-p.fromX) <= presencePlumb*down {
		moves = presenceFalls
	}
	return p.seen >= presenceFor && d >= presenceWay*math.Sqrt(p.cells) && d >= presenceLine*p.way &&
		p.worn <= worn && (p.went || p.moves >= moves)
}
