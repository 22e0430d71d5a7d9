package motion

import (
	"math"
	"time"
)

// Times of a track, and what they are bounded by.
const (
	creepCells = 2                       // things, at most, that make up what is small: a drop that runs down the lens is less
	trackGone  = 350 * time.Millisecond  // without motion, after which a track is given up
	doubtAfter = 1500 * time.Millisecond // without motion that goes on, after which a confirmed track must be confirmed anew
	maxTracks  = 32
)

// clearContrast is how many times its threshold a thing must differ by to be clear rather than faint.
const clearContrast = 1.8

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

// missed forgets strong motion that is too long ago to belong to what comes.
func (k *track) missed(at time.Duration) {
	if at-k.strongAt > trackGone {
		k.strong, k.active, k.faint, k.pictures = 0, 0, 0, 0
	}
}
