package motion

import (
	"math"
	"time"
)

// Times of the decision over several pictures.
const (
	confirmActive = 250 * time.Millisecond  // of motion that goes on, picture after picture
	confirmStrong = 450 * time.Millisecond  // of motion that the short lag does not resolve
	confirmFaint  = 750 * time.Millisecond  // of motion with little contrast, such as a soft shadow's
	confirmCreep  = 1500 * time.Millisecond // of a slow advance
	creepCells    = 2                       // things, at most, that make up what is small: a drop that runs down the lens is less
	trackGone     = 350 * time.Millisecond  // without motion, after which a track is given up
	minTravel     = 1.5                     // cells that anything must go to be confirmed
	minWay        = 0.2                     // of the square root of its area, likewise
	dwellWay      = 0.5                     // of the square root of its area, that it must go within some time not to dwell
	straight      = 0.5                     // share of its way by which it must be away from where it began
	youngWay      = 0.6                     // of the square root of its area, that anything must go while the scene is young
	youngWorn     = 0.5                     // of the time for which it moved, at most, that the places of something middling have been moving on the mean: a tree's twigs go nowhere new
	youngStraight = 0.7                     // share of its way, likewise
	walkWay       = 0.45                    // of the square root of its area, that something small must go
	walkStraight  = 0.65                    // share of its way, likewise
	walkWorn      = 0.6                     // of the time for which it moved, that the places in which it is have been moving at most
	flapWorn      = 0.75                    // the same of something middling
	flapStraight  = 0.68                    // share of its way by which that must be away
	againWithin   = 3 * time.Second         // after somebody was on the way, in which it may be them who goes on
	youngSmall    = 1500 * time.Millisecond // of motion of something small while the scene is young
	fareFor       = 1200 * time.Millisecond // of motion of something small and faint
	fareWay       = 1.5                     // of the square root of its area, that it must go
	fareStraight  = 0.85                    // share of its way, likewise
	confirmSmall  = 700 * time.Millisecond  // of motion of something small or middling
	fewSeen       = 150 * time.Millisecond  // from picture to picture, from which twigs here and there are easily taken for one thing: what is faint does not tell then
	confirmBeam   = 800 * time.Millisecond  // since it was first seen, of what may be a beam: that is told better when it is all in the picture
	snowSmall     = 1200 * time.Millisecond // the same where it snows: of flakes close by something is left
	fastSmall     = 5                       // square roots of its area that such a thing goes in a second at most: a runner goes four, an insect is faster
	middling      = 4                       // times what is small: an insect close to the lens is no larger
	confirmWander = 1200 * time.Millisecond // of motion of something large that goes to and fro
	wanderCells   = 2                       // times what is small, that it is large at least
	wanderSteady  = 0.7                     // share of the pictures since it began, in which it moved beyond doubt
	wanderWorn    = 0.45                    // of that time, at most, that its places have been moving on the mean
	doubtAfter    = 1500 * time.Millisecond // without motion that goes on, after which a confirmed track must be confirmed anew
	maxTracks     = 32
)

// clearContrast is how many times its threshold a thing must differ by to be clear rather than faint.
const clearContrast = 1.8

// wayFade is the time, in seconds, over which it is looked at where a track goes.
const wayFade = 1.5

// substanceFade is the time, in seconds, over which the outlines of a track's pictures are looked at.
const substanceFade = 0.6

// contrastFade is the time, in seconds, in which a track's contrast is forgotten to 1/e.
const contrastFade = 6

// track is one thing over several pictures.
type track struct {
	id        int // 0 until it is confirmed
	first     time.Time
	seenAt    time.Duration // last picture in which it may have moved
	liveAt    time.Duration // last picture in which it did, once confirmed
	strongAt  time.Duration
	ranFrom   time.Duration // when what strong and faint sum up began
	loom      time.Duration // sum of the pictures in which it loomed
	box       rect
	strong    time.Duration // sum of the pictures in which it moved beyond doubt
	active    time.Duration // of those, with motion right then
	pictures  int           // number of the latter
	faint     time.Duration // sum of the pictures in which it moved, clearly or faintly
	cells     float64       // size of its largest part, at most within some time
	typical   float64       // the same, smoothed
	main      int           // object of the newest picture that is its largest part, -1 without
	fromX     float64       // where what moves was some time ago, in cells
	fromY     float64
	nowX      float64 // where it is, smoothed
	nowY      float64
	way       float64 // how far it went from there to here
	anchorX   float64 // where it dwells, in cells, and since when
	anchorY   float64
	anchorAt  time.Duration
	bornAt    time.Duration
	size      int  // cells that moved in its last picture
	linked    int  // pictures in which it was seen
	flake     bool // it was like many others in the last picture
	compact   bool // something compact moved in the last picture
	left      bool // it went away from where it began
	creep     time.Duration
	creepX    float64 // where its slow advance began, in cells
	creepY    float64
	creeping  bool      // it was confirmed by its slow advance
	start     time.Time // once confirmed: the start of its span
	confirmed bool
	contrast  float64 // largest of its pictures, fading slowly
	trail     trail
	live      bool    // in this picture: it moves
	substance float64 // mean of its pictures' outlines, fading
	outlines  float64 // weight of that mean
	form      form    // of its last picture
	formAt    time.Duration
	leaps     int  // from picture to picture
	beams     bool // in the last picture it may be a beam
	leapX     float64
	leapY     float64
	worn      float64 // how long the places that it moves through have been moving on the mean, in seconds
	bold      bool    // the last leap was of something beyond doubt
}

// tracker links the objects of pictures.
type tracker struct {
	tracks    []track
	lastID    int
	small     int // cells of what moves, below which a track must travel to be confirmed
	fall      fall
	liveAt    time.Duration // when something confirmed last moved
	liveBox   rect          // where
	change    upheavals     // the last one
	order     []int         // objects of the newest picture, the largest first
	snows     bool          // pictures are taken together since much falls
	scattered bool          // much changes all over the picture
	young     bool          // it is not yet known what always moves
	width     int           // of the picture, in cells
	height    int
}

// clear gives up all tracks. Numbers go on.
func (t *tracker) clear() {
	t.tracks, t.change = t.tracks[:0], upheavals{entries: t.change.entries[:0]}
}

// forget gives up what is not confirmed.
func (t *tracker) forget(objects []object) {
	for i := range objects {
		if k := objects[i].track; k >= 0 && !t.tracks[k].confirmed {
			objects[i].track = -1
		}
	}
	for i := range t.tracks {
		if k := &t.tracks[i]; !k.confirmed {
			k.strong, k.active, k.faint, k.pictures, k.creep, k.trail.n = 0, 0, 0, 0, 0, 0
			k.cells = 0
		}
	}
}

// step links the objects of one picture, dt after the one before, to the tracks.
func (t *tracker) step(objects []object, at, dt time.Duration, wall time.Time) {
	kept := 0
	for i := range t.tracks {
		k, gone := &t.tracks[i], trackGone
		if k.creep > 0 {
			gone = time.Second
		}
		if at-k.seenAt <= max(gone, 2*dt) {
			k.live = false
			if kept < i { // a track is large
				t.tracks[kept] = *k
			}
			kept++
		}
	}
	t.tracks = t.tracks[:kept]
	t.link(objects, at, dt, wall)
	t.fall.take(objects, t.small, dt)
	for i := range t.tracks {
		l := t.sum(objects, i)
		t.tracks[i].advance(&l, at, dt, wall, t)
	}
}

// look is what one picture shows of a track: the sum of the objects linked to it.
type look struct {
	object
	any     bool
	largest int // size of the largest
}

// sum adds up the objects linked to track number i. Where much falls, what flutters around the thing is left out also of where it is.
func (t *tracker) sum(objects []object, i int) look {
	l := look{object: object{box: noRect}}
	largest := 0
	for j := range objects {
		if objects[j].track == i {
			largest = max(largest, objects[j].size())
		}
	}
	for j := range objects {
		o := &objects[j]
		if o.track != i {
			continue
		}
		l.any = true
		l.strong, l.active = l.strong || o.strong, l.active || o.stirs && o.active
		l.weak, l.stirs, l.creeps = l.weak || o.weak, l.stirs || o.stirs, l.creeps || o.creeps
		l.shines = l.shines || o.shines
		l.largest = max(l.largest, o.size())
		around := 4*o.size() < largest // what flutters around does not make it larger
		if !around || t.fall.all <= flurry {
			l.moved, l.movedX, l.movedY = l.moved+o.moved, l.movedX+o.movedX, l.movedY+o.movedY
		}
		if around {
			continue
		}
		l.cells += o.cells
		l.fore, l.sumX, l.sumY = l.fore+o.fore, l.sumX+o.sumX, l.sumY+o.sumY
		l.movedWeight, l.movedSquare, l.limit, l.worn = l.movedWeight+o.movedWeight, l.movedSquare+o.movedSquare, l.limit+o.limit, l.worn+o.worn
		l.outline.add(&o.outline)
		if o.box.empty() {
			l.box = l.box.union(o.whole)
		} else {
			l.box = l.box.union(o.box)
		}
	}
	return l
}

// contrast is how much what moves differs, each cell weighed by that, so that a thing's faint shadow hardly changes it.
func (l *look) contrast() float64 { return float64(l.movedSquare) / float64(max(1, l.movedWeight)) }

// edged tells whether what differs from the background has the edges of a thing all around: of a square, eight times the square root of its area.
func (l *look) edged() bool { return l.steep()*l.steep() >= 36*l.fore }

// advance takes what one picture shows of the track.
func (k *track) advance(l *look, at, dt time.Duration, wall time.Time, t *tracker) {
	if !l.any {
		k.missed(at)
		return
	}
	flake := t.flake(l.largest)
	if k.flake && !flake && !k.confirmed { // something else takes its place
		*k = track{first: wall, strongAt: at, bornAt: at, main: k.main}
	}
	k.flake = flake
	k.box, k.seenAt, k.size = l.box, at, l.moved
	k.linked++
	k.compact = float64(l.cells) >= compactShare*float64((l.box.right-l.box.left)*(l.box.bottom-l.box.top))
	contrast := l.contrast()
	k.contrast *= math.Exp(-dt.Seconds() / contrastFade)
	if l.strong {
		k.contrast = max(k.contrast, contrast)
	}
	if (l.weak || k.trail.n == 0) && !flake {
		k.trail.add(sight{at: at, wall: wall, contrast: float32(contrast), top: int16(l.box.top), bottom: int16(l.box.bottom), fore: int32(l.fore)}, dt)
	}
	k.leap(t.formOf(l, contrast), t, at, dt)
	if flake {
		k.missed(at)
	} else {
		k.gather(l, contrast, at, dt)
	}
	k.looms(l, t.small, dt)
	k.worn = float64(l.worn) / float64(max(1, l.moved)) * restlessFull.Seconds() / 255
	k.consider(l, dt)
	k.beams = l.glared > 0 && l.substance() < beamSubstance
	k.travel(l.moved, l.largest, l.movedX, l.movedY, at, dt)
	k.follow(l.creeps && !l.strong && l.edged() && creepCells*l.fore >= t.small, l.fore, l.sumX, l.sumY, t.small, dt)
	if !k.confirmed && !flake {
		k.confirm(at, dt, t)
	}
	k.live = k.confirmed && (l.stirs && l.active && contrast >= shadowShare*k.contrast || k.creeping && l.creeps) && !flake && !t.weather(k)
	switch {
	case k.live:
		k.liveAt = at
		t.liveAt, t.liveBox = at, k.box
	case k.confirmed && at-k.liveAt > doubtAfter:
		// It stands and stirs; to count again it must walk again.
		k.confirmed, k.creeping = false, false
		k.strong, k.active, k.faint, k.pictures, k.creep = 0, 0, 0, 0, 0
	}
}

// gather sums up the pictures that speak for motion.
func (k *track) gather(l *look, contrast float64, at, dt time.Duration) {
	if !l.strong {
		k.missed(at)
		return
	}
	k.strongAt = at
	if k.faint == 0 && k.strong == 0 {
		k.ranFrom = at - dt
	}
	clear := contrast*float64(l.moved) >= clearContrast*float64(l.limit)
	if clear || l.edged() {
		k.faint += dt
	}
	if !clear {
		return
	}
	k.strong += dt
	if l.active {
		k.active += dt
		k.pictures++
	}
}

// consider takes the outline of one picture into the mean. The fainter a picture is the less it counts: a hand's soft shadow comes before the hand,
// which is no light for that. What entered as a beam counts also while it is one, so that a single picture in which it is hard to tell makes no thing of it.
func (k *track) consider(l *look, dt time.Duration) {
	if !l.telling() || !l.strong && !l.shines {
		return
	}
	fade := math.Exp(-dt.Seconds() / substanceFade)
	weight := dt.Seconds() * l.contrast() * l.contrast()
	k.substance, k.outlines = k.substance*fade+l.substance()*weight, k.outlines*fade+weight
}

// solid tells whether the track is a thing rather than light, as far as its outlines say.
func (k *track) solid() bool { return k.substance >= thingSubstance*k.outlines }

// missed forgets strong motion that is too long ago to belong to what comes.
func (k *track) missed(at time.Duration) {
	if at-k.strongAt > trackGone {
		k.strong, k.active, k.faint, k.pictures = 0, 0, 0, 0
	}
}

// travel keeps where the track's motion is, smoothed over a fifth of a second, and how far it went on its way there.
func (k *track) travel(moved, size, x, y int, at, dt time.Duration) {
	if moved == 0 {
		return
	}
	cx, cy := float64(x)/float64(moved), float64(y)/float64(moved)
	if k.cells == 0 {
		k.cells = 1
		k.fromX, k.fromY, k.nowX, k.nowY = cx, cy, cx, cy
		k.anchorX, k.anchorY, k.anchorAt = cx, cy, at
	}
	fade := math.Exp(-dt.Seconds() / wayFade)
	k.cells = max(k.cells*fade, float64(size))
	if k.typical == 0 {
		k.typical = float64(size)
	}
	k.typical += (float64(size) - k.typical) * (1 - math.Exp(-dt.Seconds()/aheadFade))
	k.fromX, k.fromY, k.way = k.nowX+(k.fromX-k.nowX)*fade, k.nowY+(k.fromY-k.nowY)*fade, k.way*fade
	share := 1 - math.Exp(-dt.Seconds()/0.2)
	dx, dy := share*(cx-k.nowX), share*(cy-k.nowY)
	k.nowX, k.nowY = k.nowX+dx, k.nowY+dy
	k.way += math.Hypot(dx, dy)
	if math.Hypot(k.nowX-k.anchorX, k.nowY-k.anchorY) > max(minTravel, dwellWay*math.Sqrt(k.cells)) {
		k.anchorX, k.anchorY, k.anchorAt, k.left = k.nowX, k.nowY, at, true
	}
}

// away is how far the track is from where it was some time ago, in cells.
func (k *track) away() float64 { return math.Hypot(k.nowX-k.fromX, k.nowY-k.fromY) }

// travelled tells whether the track went anywhere. What sways or flickers in its place, such as a tree or the digits of a clock, goes to and fro.
func (k *track) travelled() bool {
	d := k.away()
	return d >= minTravel && d >= minWay*math.Sqrt(k.cells) && d >= straight*k.way
}

// again tells whether somebody was on the way there just now, who stood still and goes on.
func (t *tracker) again(k *track, at time.Duration) bool {
	gap, reach := distance(t.liveBox, k.box)
	return t.lastID > 0 && at-t.liveAt <= againWithin && gap <= reach
}

// flaps tells whether what is not large goes to and fro, or moves through places that have been moving for as long as itself.
func (k *track) flaps() bool {
	d := k.away()
	return k.worn > flapWorn*max(k.strong, k.faint).Seconds() || d < flapStraight*k.way
}

// walks tells whether something small goes on its way, through places where nothing moved before. What flaps, such as a flag, stays where it has been moving all the time.
func (k *track) walks() bool {
	d := k.away()
	return d >= walkWay*math.Sqrt(k.cells) && d >= walkStraight*k.way && k.worn <= walkWorn*k.strong.Seconds()
}

// fares tells whether something small that differs by little goes far, straight on, as nothing in the noise of the night does, and while nothing else is about.
func (k *track) fares(t *tracker) bool {
	d := k.away()
	return k.faint >= fareFor && t.fall.all <= flurry && d >= fareWay*math.Sqrt(k.cells) && d >= fareStraight*k.way
}

// leaves tells whether the track goes far: what moved when the detector began, such as a tree or a flag, is not known yet for what it is.
func (k *track) leaves() bool {
	d := k.away()
	return d >= youngWay*math.Sqrt(k.cells) && d >= youngStraight*k.way
}

// wanders tells whether something large has moved for so long, and each time somewhere else, that it is not a thing that always moves in its place: a hand at
// work, a dog, a child at play. The places that a tree or a flag moves through are always the same ones.
func (k *track) wanders(small int) bool {
	return k.strong >= confirmWander && k.strong.Seconds() >= wanderSteady*(k.strongAt-k.ranFrom).Seconds() && k.cells >= wanderCells*float64(small) && k.worn <= wanderWorn*k.strong.Seconds()
}

// hurries tells whether the track goes further in a second than things of its size do: insects, flakes of snow and drops fly close to the lens.
func (k *track) hurries(at time.Duration) bool {
	return k.way > fastSmall*math.Sqrt(k.cells)*wayFade*(1-math.Exp(-(at-k.bornAt).Seconds()/wayFade))
}

// follow sums up a slow advance: new ground taken all the time, and a centre that really moves.
func (k *track) follow(creeps bool, fore, x, y, small int, dt time.Duration) {
	if !creeps || fore == 0 {
		k.creep, k.creeping = 0, false
		return
	}
	if k.creep == 0 {
		k.creepX, k.creepY = float64(x)/float64(fore), float64(y)/float64(fore)
	}
	k.creep += dt
	dx, dy := float64(x)/float64(fore)-k.creepX, float64(y)/float64(fore)-k.creepY
	least := 0.06
	if k.cells < float64(small) {
		least = 0.25
	}
	if k.creep >= confirmCreep && dx*dx+dy*dy >= least*float64(fore) {
		k.creeping = true
	}
}

// confirm decides whether a track is motion. A step of the picture, such as a keyframe's other rendering of the same scene, is active in
// one picture, and strong for no longer than the long lag.
func (k *track) confirm(at, dt time.Duration, t *tracker) {
	pictures := 3
	moved := max(k.strong, k.faint)
	if dt >= fewSeen {
		pictures, moved = 2, k.strong
	}
	slowly, leapt := false, k.leapt() && !t.scattered && t.fall.all <= flurry
	switch {
	case leapt:
	case k.active >= confirmActive && k.pictures >= pictures:
	case k.strong >= confirmStrong && k.pictures >= 1:
	case k.faint >= confirmFaint:
	case k.creeping && t.young && k.cells < float64(t.small):
		return
	case k.creeping:
		slowly = true
	default:
		return
	}
	if !k.creeping && !leapt { // it had to go somewhere first
		if !k.solid() || t.scattered && !k.compact || t.weather(k) || k.beams && at-k.bornAt < confirmBeam {
			return
		}
		if t.snows && k.cells < float64(t.small) && k.strong < snowSmall {
			return
		}
		wanders := k.wanders(t.small)
		if t.young && (!k.leaves() && !wanders || k.cells < float64(t.small) && k.strong < youngSmall || k.cells < middling*float64(t.small) && k.worn > youngWorn*k.strong.Seconds()) {
			return
		}
		if !k.travelled() && !wanders && k.loom < loomsSure || k.cells < float64(t.small) && !k.fares(t) && (k.strong < confirmSmall || !k.walks() && !t.again(k, at)) || k.cells < middling*float64(t.small) && (moved < confirmSmall || k.hurries(at) || k.flaps() && !wanders && !t.again(k, at)) {
			return
		}
	}
	k.confirmed, k.liveAt = true, at
	if k.id == 0 {
		t.lastID++
		k.id = t.lastID
	}
	switch {
	case slowly:
		k.start = k.first
	case k.creeping && !leapt:
		k.start = k.trail.begin(at, lookBack, k.contrast)
	default:
		k.start = k.trail.begin(at, startBack, k.contrast)
	}
	k.start = t.entered(k, at)
}
