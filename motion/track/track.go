package track

import (
	"time"

	"vmsbridge/motion/area"
)

// Times of a track, and what they are bounded by.
const (
	smallShare = 0.005 // of the picture: what moves less must go somewhere to count
	// things, at most, that make up what is small: a drop that runs down the lens is less
	creepCells = 2
	GoneAfter  = 350 * time.Millisecond // without motion, after which a track is given up
	// without motion that goes on, after which a confirmed track must be confirmed anew
	doubtAfter = 1500 * time.Millisecond
	most       = 32 // tracks at a time
)

// contrastFade is the time, in seconds, in which a track's contrast is forgotten to 1/e.
const contrastFade = 6

// Track is one thing over several pictures.
type Track struct {
	ID        int       // 0 until it is confirmed
	Confirmed bool      // it is motion; what stands and stirs for long must be confirmed anew
	Live      bool      // in this picture: it moves
	Start     time.Time // once confirmed: of its span
	Dated     bool      // by more than the pictures in which it moved: it may be before the first of them

	first     time.Time
	seenAt    time.Duration // last picture in which it may have moved
	liveAt    time.Duration // last picture in which it did, once confirmed
	strongAt  time.Duration
	ranFrom   time.Duration // when what strong and faint sum up began
	loom      time.Duration // sum of the pictures in which it loomed
	box       area.Rect
	strong    time.Duration // sum of the pictures in which it moved beyond doubt
	active    time.Duration // of those, with motion right then
	pictures  int           // number of the latter
	faint     time.Duration // sum of the pictures in which it moved, clearly or faintly
	cells     float64       // size of its largest part, at most within some time
	typical   float64       // the same, smoothed
	main      int           // area of the newest picture that is its largest part, -1 without
	fromX     float64       // where what moves was some time ago, in cells
	fromY     float64
	nowX      float64 // where it is, smoothed
	nowY      float64
	way       float64 // how far it went from there to here
	anchorX   float64 // where it dwells, in cells, and since when
	anchorY   float64
	anchorAt  time.Duration
	left      bool // it went away from where it began
	bornAt    time.Duration
	size      int  // cells that moved in its last picture
	linked    int  // pictures in which it was seen
	flake     bool // it was like many others in the last picture
	creep     time.Duration
	creepX    float64 // where its slow advance began, in cells
	creepY    float64
	creeping  bool    // it was confirmed by its slow advance
	contrast  float64 // largest of its pictures, fading slowly
	trail     trail
	substance float64 // mean of its pictures' outlines, fading
	outlines  float64 // weight of that mean
	form      form    // of its last picture
	formAt    time.Duration
	leaps     int // from picture to picture
	leapX     float64
	leapY     float64
	worn      float64 // how long the places that it moves through have been moving on the mean, in seconds
	bold      bool    // the last leap was of something beyond doubt
}

// Tracker links the areas of pictures. Its zero value is ready once it has been resized; it is not
// safe for concurrent use.
type Tracker struct {
	Tracks []Track // Area.Track is an index of these, until the next Step

	// What the picture as a whole does: to be set before Step.
	Learning  bool // the scene is new: what moves is followed, and nothing is confirmed
	Scattered bool // much changes all over the picture
	Young     bool // it is not yet known what always moves
	Early     bool // the same, or it is not yet known well

	lastID  *int
	small   int // cells of what moves, below which a track must travel to be confirmed
	width   int // of the picture, in cells
	height  int
	fall    fall
	change  change     // the last one
	present []presence // what differs from the background over many pictures
	order   []int      // areas of the newest picture, the largest first
}

// Resize prepares for pictures of width x height cells. Tracks stay as they are.
func (t *Tracker) Resize(width, height int) {
	t.width, t.height, t.small = width, height, int(smallShare*float64(width*height))
	if t.Tracks == nil {
		t.present = make([]presence, 0, 2*most)
		t.Tracks = make([]Track, 0, most)
	}
}

// NumberWith lets the tracks of both have numbers of one row.
func (t *Tracker) NumberWith(o *Tracker) {
	o.lastID = new(int)
	t.lastID = o.lastID
}

// Candidate reports whether anything may turn out to be motion.
func (t *Tracker) Candidate() bool {
	for i := range t.Tracks {
		if !t.Tracks[i].Confirmed {
			return true
		}
	}
	return false
}

// Small is the number of cells below which what moves must go somewhere to count.
func (t *Tracker) Small() int { return t.small }

// Clear gives up all tracks. Numbers go on.
func (t *Tracker) Clear() {
	t.present = t.present[:0]
	t.Tracks, t.change = t.Tracks[:0], change{}
}

// Forget gives up what is not confirmed.
func (t *Tracker) Forget(areas []area.Area) {
	for i := range areas {
		if k := areas[i].Track; k >= 0 && !t.Tracks[k].Confirmed {
			areas[i].Track = -1
		}
	}
	for i := range t.Tracks {
		if k := &t.Tracks[i]; !k.Confirmed {
			k.strong, k.active, k.faint, k.pictures, k.creep, k.trail.n = 0, 0, 0, 0, 0, 0
			k.cells = 0
		}
	}
}
