package motion

import (
	"fmt"
	"time"

	"vmsbridge/motion/area"
	"vmsbridge/motion/exposure"
	"vmsbridge/motion/plane"
	"vmsbridge/motion/shake"
	"vmsbridge/motion/track"
)

// longPause is the time between two pictures after which nothing that was open goes on.
const longPause = 5 * time.Second

// Detector finds spans of motion in the pictures of one camera. It is not safe for concurrent use,
// starts no goroutine, and allocates nothing while nothing moves.
type Detector struct {
	config   Config
	contrast int32     // that a cell must show
	share    float64   // of the picture, the least that is looked at
	spans    []span    // the whole picture, then the regions
	keener   *Detector // what is fainter and smaller, for spans that are keener than the default; it has no spans

	grid      grid
	mask      []byte   // 255 where to look, 0 where not
	inRegion  []uint64 // a bit for each region that a cell is in; nil without regions
	history   history
	light     exposure.Fitter
	model     model
	habit     restless
	snowfall  snowfall
	smooth    smoother
	doubt     []uint16 // the noise of the cells, as thresholds are made of it
	steady    shake.Steady
	bands     exposure.Bands
	unlit     unlit
	ghosts    ghosts
	despeckle plane.Despeckler
	finder    area.Finder
	tracks    track.Tracker
	objects   []area.Area // of the newest picture
	flags     []byte
	blocks    []plane.Block // what its cells are, block by block, and square by square
	square    []plane.Block
	solid     []byte
	held      []byte
	scratch   []byte // all zero between uses
	heldAny   bool
	upsetFor  time.Duration
	upheaves  bool          // the whole picture changes at once: nothing can be told
	upset     bool          // the same, or it is another scene: nothing is learned of noise
	jumpedAt  time.Duration // when most of the picture last changed at once, 0 if that was answered
	calmAt    time.Duration // when little of it last moved
	blursTill time.Duration // the focus is changing
	softAt    time.Duration // the picture became softer
	freshFor  time.Duration // how long the noise of a new scene is still to be learned
	newScene  bool          // most of it is unlike the background, but still
	unsure    []int32
	beamed    []int32 // blocks that a beam lit lately, and that are lit otherwise than the background
	spots     []spot  // cells that may tell whether the focus changes
	looked    bool    // light has seen the flags as they are

	pictures int           // since learning began
	at       time.Duration // own time: sum of what passed between pictures
	learned  time.Duration // when learning ended
	began    time.Duration // when it began
	wall     time.Time     // of the last picture
	seen     time.Time     // when what it shows was there
	rows     [2]int        // ms that passed since the even and odd rows were learned
	turn     int

	moving  float64 // share of the picture
	boxes   []Box
	changes []Change
	inside  []Box
	things  []thing

	silhouette silhouette
	apart      things
}

// New returns a Detector, or all problems of the Config. The Config's slices must not be changed
// afterwards.
func New(c Config) (*Detector, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("check motion settings: %w", err)
	}
	c = c.withDefaults()
	d := looksFor(c, DefaultSensitivity)
	d.spans = append(d.spans, spanFor("", c.Sensitivity))
	keenest := c.Sensitivity
	for _, r := range c.Regions {
		s := r.Sensitivity
		if s == 0 {
			s = c.Sensitivity
		}
		d.spans = append(d.spans, spanFor(r.ID, s))
		keenest = max(keenest, s)
	}
	if keenest > DefaultSensitivity {
		d.keener = looksFor(c, 1)
		d.keener.tracks.NumberWith(&d.tracks)
	}
	return d, nil
}

// looksFor is a Detector without spans, which looks for what a sensitivity finds. There are two at
// most, and a span counts of what they find what its own sensitivity wants: so a higher one finds
// whatever a lower one does.
func looksFor(c Config, sensitivity float64) *Detector {
	return &Detector{config: c, contrast: contrastFor(sensitivity), share: shareFor(sensitivity)}
}

// sight is the detector that shows what the whole picture's sensitivity finds.
func (d *Detector) sight() *Detector {
	if d.keener != nil && d.spans[0].keen {
		return d.keener
	}
	return d
}

// Gap ends everything: the stream was lost, or what comes next has nothing to do with what was. It
// returns the ends of the spans that were open; the slice is valid until the next call of a method.
// The next Step learns anew.
func (d *Detector) Gap() []Change {
	d.changes = d.changes[:0]
	d.gap()
	if d.keener != nil {
		d.keener.gap()
	}
	return d.changes
}

func (d *Detector) gap() {
	for i := range d.spans {
		d.changes = d.spans[i].end(d.changes)
	}
	d.tracks.Clear()
	d.history.clear()
	d.snowfall.clear()
	d.pictures = 0
}

// Pause ends what is open and goes on with the background that is known: what still moves begins
// anew. It returns the ends as Gap does.
func (d *Detector) Pause() []Change {
	d.changes = d.changes[:0]
	d.pause()
	if d.keener != nil {
		d.keener.pause()
	}
	return d.changes
}

// pause ends what is open and goes on with the background that is known: the pictures have a hole,
// or their clock was set.
func (d *Detector) pause() {
	for i := range d.spans {
		d.changes = d.spans[i].end(d.changes)
	}
	d.tracks.Clear()
	d.history.clear()
	d.snowfall.clear()
}

// forgetEnds lets the next spans begin before the last ones ended, after the clock was set back.
func (d *Detector) forgetEnds() {
	for i := range d.spans {
		d.spans[i].ended = time.Time{}
	}
}

// Last is the time of the last picture with motion of the region's open span, "" for the whole
// picture; ok is false if none is open.
func (d *Detector) Last(region string) (last time.Time, ok bool) {
	for i := range d.spans {
		if s := &d.spans[i]; s.region == region && s.open {
			return s.last, true
		}
	}
	return time.Time{}, false
}

// Shake is by how much a shaking camera looks elsewhere than usual in the newest picture, in
// fractions of its width and height: what is usually at x is at x plus that.
func (d *Detector) Shake() (x, y float64) {
	side := float64(d.grid.side)
	return d.steady.DX * side / float64(max(1, d.grid.pictureWidth)),
		d.steady.DY * side / float64(max(1, d.grid.pictureHeight))
}
