package tamper

import (
	"fmt"
	"math"
	"time"

	"vmsbridge/motion"
)

// DefaultAccept is how long a new view must last until it is the normal one.
const DefaultAccept = 10 * time.Minute

const (
	lookEvery               = 500 * time.Millisecond
	settle                  = 0.7       // seconds, over which looks are averaged, against noise
	suddenLight, suddenView = 0.25, 0.4 // shares of the level and of the cells, at which looks are not averaged
	learnLooks              = 8         // before anything is judged
	longPause               = 5 * time.Second
	references              = 3 // kept at most: day, night, and one more
)

// Config says what to look for. Its zero value means the defaults, which are meant to be right for
// every camera.
type Config struct {
	// Accept is how long a view must stand as it is, turned or out of focus, until it counts as the
	// normal one and the span ends. 0 means DefaultAccept. A covered, blinded or frozen view is
	// never accepted.
	Accept time.Duration
}

// Watch finds tampering in the pictures of one camera. It is not safe for concurrent use, starts no
// goroutine, and allocates only when the pictures' size changes and when it learns one more view.
type Watch struct {
	accept time.Duration
	grid   grid
	still  stillness

	now    view
	curl   curl
	refs   []*reference
	active int
	try    int        // the reference that is tried next when the active one does not fit
	fresh  *reference // of a view that may become one of refs
	row    []float32  // scratch
	stable time.Duration
	looks  uint64

	wall   time.Time // of the last picture
	lookAt time.Duration
	at     time.Duration // own time

	doubt   doubt
	sharp   float32 // of the last looks, against the scene's own; 1 is as usual
	open    Reason  // of the open span
	start   time.Time
	last    time.Time
	changes []Change
}

// view is one look at the picture.
type view struct {
	cells  []float32 // mean grey levels
	smooth []float32 // the same over the last looks
	stand  []float32 // what stands out of smooth
	sums   []float32 // scratch
	means  []uint16  // scratch
	level  float32
	bright float32
	stir   float32 // share of cells that are not as in the last looks
	begun  bool
}

// New returns a Watch, or why the Config is none.
func New(c Config) (*Watch, error) {
	if c.Accept < 0 {
		return nil, fmt.Errorf("check tamper settings: accept: %v is negative", c.Accept)
	}
	if c.Accept == 0 {
		c.Accept = DefaultAccept
	}
	return &Watch{accept: c.Accept, changes: make([]Change, 0, 2)}, nil
}

// Gap ends what is open: the stream was lost. What the view looks like is not forgotten: who cuts
// the cable, turns the camera and plugs it in again is found. The slice is valid until the next
// call of a method.
func (w *Watch) Gap() []Change {
	w.changes = w.changes[:0]
	w.pause()
	w.wall = time.Time{}
	return w.changes
}

// pause ends what is open; pictures that follow have nothing to do with those before.
func (w *Watch) pause() {
	w.end(false)
	w.doubt = doubt{}
	w.now.begun = false
	w.sharp = 1
	if w.grid.pictureWidth > 0 {
		w.still.resize(w.grid)
	}
}

func (w *Watch) resize(width, height int) {
	g := newGrid(width, height)
	w.grid = g
	n := g.cells()
	w.now = view{cells: make([]float32, n), smooth: make([]float32, n), stand: make([]float32, n),
		sums: make([]float32, n), means: make([]uint16, n)}
	w.curl.fine = make([]float32, g.fineWidth*g.fineHeight)
	w.row = make([]float32, g.fineWidth)
	w.refs = w.refs[:0]
	for range references {
		w.refs = append(w.refs, &reference{})
	}
	w.fresh, w.active, w.stable = &reference{}, 0, 0
	w.still.resize(g)
}

// Step looks at one picture. Nothing of p is kept after the call. A picture whose plane is shorter
// than it says, or whose time is that of the picture before or up to a second earlier, is left out;
// a larger step backwards or a pause of some seconds acts as Gap; another picture size too, and
// what is known of the view is forgotten with it. The changes are in the order in which to report
// them, and valid until the next call of a method.
func (w *Watch) Step(p motion.Picture) []Change { return w.step(p, true) }

// Glance is Step for a picture that is one of few: those between were not looked at, because
// nothing happened. It says nothing about whether the source is frozen.
func (w *Watch) Glance(p motion.Picture) []Change { return w.step(p, false) }

func (w *Watch) step(p motion.Picture, each bool) []Change {
	w.changes = w.changes[:0]
	if p.Width <= 0 || p.Height <= 0 || p.Stride < p.Width || p.Width > 1<<16 || p.Height > 1<<16 ||
		len(p.Luma) < (p.Height-1)*p.Stride+p.Width {
		return nil
	}
	if p.Width != w.grid.pictureWidth || p.Height != w.grid.pictureHeight {
		w.pause()
		w.resize(p.Width, p.Height)
	}
	dt := p.Time.Sub(w.wall)
	switch {
	case w.wall.IsZero():
		dt = lookEvery
	case dt <= 0 && dt > -time.Second:
		return nil
	case dt < 0 || dt > longPause:
		w.pause()
		dt = lookEvery
	}
	w.wall = p.Time
	w.at += dt
	frozen, since := w.still.frozen, w.still.since
	if each {
		frozen, since = w.still.step(p, dt)
	}
	if d := w.at - w.lookAt; w.grid.usable() && (d >= lookEvery-dt/2 || !w.now.begun) {
		w.lookAt = w.at
		w.look(p, min(d, 2*time.Second))
	}
	switch {
	case frozen && w.open == None:
		w.begin(Frozen, since, p.Time)
	case frozen && w.open == Frozen:
		w.last = p.Time
	case !frozen && w.open == Frozen:
		w.end(false)
	}
	if len(w.changes) == 0 {
		return nil
	}
	return w.changes
}

// Doubt tells whether the newest picture was not as before and no span is open yet, and since when:
// this may turn out to be the start of a span.
func (w *Watch) Doubt() (since time.Time, ok bool) {
	return w.doubt.since, w.open == None && w.doubt.weight > 0 && w.doubt.calm == 0
}

// Unsure tells whether a span is open, or may turn out to have begun.
func (w *Watch) Unsure() bool { return w.open != None || w.doubt.weight > 0 }

// Open is the reason of the open span, None if there is none, and the time of the last picture that
// was not as before.
func (w *Watch) Open() (r Reason, last time.Time) { return w.open, w.last }

func (w *Watch) begin(r Reason, start, last time.Time) {
	if last.Before(start) {
		start = last
	}
	w.open, w.start, w.last = r, start, last
	w.changes = append(w.changes, Change{Kind: Began, Reason: r, Start: start, Last: last})
	w.fresh.forget()
	w.stable = 0
}

func (w *Watch) end(accepted bool) {
	if w.open != None {
		w.changes = append(w.changes, Change{Kind: Ended, Reason: w.open, Start: w.start, Last: w.last,
			Accepted: accepted})
	}
	w.open = None
}

// take makes the view of a picture, dt seconds after the last.
func (v *view) take(g grid, p motion.Picture, dt float64) {
	g.reduce(p, v.means, v.cells)
	a := float32(1 - math.Exp(-dt/settle))
	if !v.begun {
		a, v.begun = 1, true
		copy(v.smooth, v.cells)
	}
	var sum, shift float32
	bright, stir := 0, 0
	for i, c := range v.cells {
		sum += c
		shift += c - v.smooth[i]
		if c >= glare {
			bright++
		}
	}
	n := float32(len(v.cells))
	shift /= n
	for i, c := range v.cells {
		if abs(c-v.smooth[i]-shift) > stirs {
			stir++
		}
	}
	if abs(shift)*n > suddenLight*sum || float32(stir) > suddenView*n {
		a = 1 // what was before has nothing to say any more
	}
	for i, c := range v.cells {
		v.smooth[i] += a * (c - v.smooth[i])
	}
	v.level, v.bright, v.stir = sum/n, float32(bright)/n, float32(stir)/n
	g.highPass(v.smooth, v.sums, v.stand)
}
