package motion

import (
	"encoding/binary"
	"fmt"
	"time"

	"vmsbridge/motion/plane"
)

const (
	learnFor        = 900 * time.Millisecond // of a new scene, before anything is reported
	learnPictures   = 4
	youngFor        = 4 * time.Second         // in which what stands still is soon taken for background: it may be the hole that a passer-by left
	restlessLearned = 4500 * time.Millisecond // after which it is known what always moves: restlessAfter, and while it was learned
	maxStep         = 250 * time.Millisecond
	smallShare      = 0.005                   // of the picture: what moves less must go somewhere to count
	upsetAtMost     = 1500 * time.Millisecond // for which a change of the whole picture teaches no noise
	longPause       = 5 * time.Second         // between two pictures, after which nothing that was open goes on
)

// Detector finds spans of motion in the pictures of one camera. It is not safe for concurrent use, starts no goroutine, and
// allocates nothing while nothing moves.
type Detector struct {
	config   Config
	contrast int32
	spans    []span // the whole picture, then the regions

	grid      grid
	mask      []byte   // 255 where to look, 0 where not
	inRegion  []uint64 // a bit for each region that a cell is in; nil without regions
	history   history
	light     sampler
	model     model
	habit     restless
	snowfall  snowfall
	smooth    smoother
	doubt     []uint16 // the noise of the cells, as thresholds are made of it
	steady    steady
	bands     bands
	unlit     unlit
	ghosts    ghosts
	despeckle plane.Despeckler
	labels    labeler
	tracks    tracker
	objects   []object // of the newest picture
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
	counts    []int32
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

	share   float64
	boxes   []Box
	changes []Change
	inside  []Box
	things  []thing

	silhouette silhouette
}

// New returns a Detector, or all problems of the Config. The Config's slices must not be changed afterwards.
func New(c Config) (*Detector, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("check motion settings: %w", err)
	}
	c = c.withDefaults()
	d := &Detector{config: c, contrast: contrastFor(c.Sensitivity)}
	d.spans = append(d.spans, span{share: shareFor(c.Sensitivity)})
	for _, r := range c.Regions {
		s := r.Sensitivity
		if s == 0 {
			s = c.Sensitivity
		}
		d.spans = append(d.spans, span{region: r.ID, share: shareFor(s)})
	}
	d.tracks.tracks, d.tracks.change.entries = make([]track, 0, maxTracks), make([]entry, 0, maxTracks)
	return d, nil
}

// resize prepares for pictures of another size.
func (d *Detector) resize(width, height int) {
	g := newGrid(width, height)
	n := g.cells()
	d.grid = g
	d.snowfall.resize()
	d.smooth.resize(g.width, g.height)
	d.model.resize(n)
	d.doubt = d.model.noise
	d.habit.resize(n)
	d.unlit.resize(n)
	d.ghosts.resize(n)
	d.despeckle.Resize(g.width, g.height)
	d.labels.resize(g)
	d.silhouette.resize(n)
	d.objects = nil
	d.flags, d.solid, d.held, d.scratch = make([]byte, n), make([]byte, n), make([]byte, n), make([]byte, n)
	_, blocks := plane.Blocks(g.width, g.height)
	d.blocks, d.square = make([]plane.Block, blocks), make([]plane.Block, 0, blocks)
	d.spots = make([]spot, 0, blocks*blockSide/2)
	d.counts = make([]int32, len(d.labels.tile)+1)
	d.unsure = make([]int32, 0, n/(blockSide*blockSide)+g.width+g.height)
	d.beamed = make([]int32, 0, n/(blockSide*blockSide)+g.width+g.height)
	d.mask = make([]byte, n)
	d.inRegion = nil
	if len(d.config.Regions) > 0 {
		d.inRegion = make([]uint64, n)
	}
	for i := range d.mask {
		x := (float64(i%g.width) + 0.5) * float64(g.side) / float64(width)
		y := (float64(i/g.width) + 0.5) * float64(g.side) / float64(height)
		d.mask[i] = 255
		for _, m := range d.config.Masks {
			if m.contains(x, y) {
				d.mask[i] = 0
			}
		}
		for k, r := range d.config.Regions {
			if r.Area.contains(x, y) {
				d.inRegion[i] |= 1 << k
			}
		}
	}
	d.light.choose(d.mask)
	d.history.resize(n, &d.light)
	d.bands.resize(g, d.light.at)
	d.steady.resize(g, d.light.at)
	d.tracks.small = int(smallShare * float64(n))
	d.tracks.width, d.tracks.height = g.width, g.height
	d.pictures = 0
}

// Gap ends everything: the stream was lost, or what comes next has nothing to do with what was. It returns the ends of the spans
// that were open; the slice is valid until the next call of a method. The next Step learns anew.
func (d *Detector) Gap() []Change {
	d.changes = d.changes[:0]
	d.gap()
	return d.changes
}

func (d *Detector) gap() {
	for i := range d.spans {
		d.changes = d.spans[i].end(d.changes)
	}
	d.tracks.clear()
	d.history.clear()
	d.snowfall.clear()
	d.pictures = 0
}

// pause ends what is open and goes on with the background that is known: the pictures have a hole, or their clock was set.
func (d *Detector) pause() {
	for i := range d.spans {
		d.changes = d.spans[i].end(d.changes)
	}
	d.tracks.clear()
	d.history.clear()
	d.snowfall.clear()
}

// forgetEnds lets the next spans begin before the last ones ended, after the clock was set back.
func (d *Detector) forgetEnds() {
	for i := range d.spans {
		d.spans[i].ended = time.Time{}
	}
}

// Step looks at one picture. Nothing of p is kept after the call. A picture whose plane is shorter than it says, or whose time
// is that of the picture before or up to a second earlier, is left out; a larger step backwards, or a pause of some seconds, ends the open spans, and
// another picture size acts as Gap; those ends come in Result.Changes.
func (d *Detector) Step(p Picture) Result {
	d.changes, d.boxes, d.share = d.changes[:0], d.boxes[:0], 0
	if !p.valid() {
		return d.result(false)
	}
	if p.Width != d.grid.pictureWidth || p.Height != d.grid.pictureHeight {
		d.gap()
		d.resize(p.Width, p.Height)
	}
	dt := p.Time.Sub(d.wall)
	switch {
	case dt <= 0 && dt > -time.Second:
		return d.result(false)
	case dt < 0 || dt > longPause:
		d.pause()
		if dt < 0 {
			d.forgetEnds()
		}
		dt = shortLag
	case d.pictures == 0:
		dt = shortLag
	}
	d.wall = p.Time
	step := min(dt, maxStep)
	d.at += dt
	newest := d.history.next()
	newest.at = d.at
	d.grid.reduce(p, newest.cells)
	fell := false
	if d.seen, fell = d.snowfall.run(newest.cells, p.Time, dt, d.tracks.fall.all); fell {
		d.relearn()
	}
	d.smooth.run(newest.cells, d.grid.width)
	if d.pictures > 0 {
		d.steady.run(d.model.background, newest.cells, d.grid)
		d.light.take(newest.cells, newest.samples)
		d.light.take(d.model.background, d.light.ground)
		if d.bands.run(d.model.background, newest.cells, d.light.ground, newest.samples, d.grid, d.at) {
			d.relearn()
		}
	}
	if d.pictures == 0 || d.bands.on {
		d.light.take(newest.cells, newest.samples)
	}
	if d.pictures++; d.pictures == 1 {
		d.model.begin(newest.cells)
		copy(d.light.ground, newest.samples)
		d.unlit.clear()
		d.began, d.learned = d.at, d.at+learnFor
		d.rows = [2]int{}
		clear(d.flags)
		d.looked = false
	}
	global := d.look(newest.cells, step)
	d.history.commit()
	d.smoothen()
	return d.result(global)
}

// relearn begins to learn the scene anew: it will look otherwise from the newest picture on.
func (d *Detector) relearn() {
	d.smooth.on = false
	d.history.clear()
	d.pictures = 0
}

// learning tells whether the scene is still new.
func (d *Detector) learning() bool { return d.at < d.learned || d.pictures <= learnPictures }

// result is what Step returns.
func (d *Detector) result(global bool) Result {
	r := Result{Changes: d.changes, Activity: Activity{Share: d.share, Learning: d.learning(), Global: global}}
	if len(d.changes) == 0 {
		r.Changes = nil
	}
	if len(d.boxes) > 0 {
		r.Activity.Boxes = d.boxes
	}
	for i := range d.spans {
		r.Moving = r.Moving || d.spans[i].open
		r.Candidate = r.Candidate || d.spans[i].waiting
	}
	for i := range d.tracks.tracks {
		r.Candidate = r.Candidate || !d.tracks.tracks[i].confirmed
	}
	return r
}

// look is Step for the cells of the newest picture. It tells whether the light of the whole scene changed.
func (d *Detector) look(now []uint16, dt time.Duration) (global bool) {
	before, light := now, sameExposure
	if d.looked {
		d.light.again(d.history.current().samples)
	} else {
		d.light.look(d.history.current().samples, d.flags, cellFore|cellMoved)
	}
	d.looked = false
	if long := d.history.near(longLag); long != nil {
		before = long.cells
		light = d.light.fit(long.samples)
		if d.learning() {
			d.model.floor(uint16(startNoise * 256 * float64(max(0, d.light.spread()-1))))
		}
	}
	if e := d.light.fit(d.light.ground); e.shift() > 128 {
		d.model.expose(e)
		d.unlit.expose(e)
	}
	d.doubt = d.doubts()
	plane.Classify(now, before, plane.Exposure(light), d.model.background, d.doubt, d.contrast, d.flags)
	d.unlit.restore(&d.model, d.doubt, now, d.flags, d.contrast)
	global = d.relight(now, before)
	solid := d.despeckle.Run(d.flags, d.mask, d.solid)
	d.objects = nil
	if d.heldAny {
		clear(d.held)
		d.heldAny = false
	}
	d.tracks.snows = d.snowfall.on
	d.tracks.young = d.at < d.began+restlessLearned
	cells, squares := d.grid.cells(), plane.Block(0)
	if d.tracks.scattered = false; solid > cells/100 || d.jumpedAt != 0 {
		squares = d.squares()
		d.tracks.scattered = solid > cells/100 && scattered(d.square)
		if d.tracks.scattered && d.blurs(now) {
			if d.at > d.blursTill {
				d.tracks.remember(d.at, d.seen, true)
			}
			d.blursTill = d.at + focusLasts
		}
		if d.at <= d.blursTill && solid > cells/100 {
			d.refocus(now)
			solid = d.despeckle.Run(d.flags, d.mask, d.solid)
			squares = d.squares()
		}
	}
	upheaval := false
	d.newScene = false
	if float64(solid) >= restShare*float64(cells) || d.jumpedAt != 0 {
		fore, moved := float64(squares.Fore())/float64(cells), float64(squares.Moved())/float64(cells)
		upheaval = d.upheaval(solid, fore, moved, now)
		d.newScene = d.strange(fore, moved)
	} else {
		d.calmAt = d.at
	}
	d.upset = d.newScene || upheaval
	minMoved := d.minCells(d.spans[0].share)
	for i := range d.spans {
		minMoved = min(minMoved, d.minCells(d.spans[i].share))
	}
	if solid >= max(2, minMoved/2) && !d.learning() {
		d.objects = d.find(now, before, light, minMoved)
	}
	if upheaval {
		if !d.upheaves {
			d.tracks.remember(d.at, d.seen, false)
		}
		d.tracks.change.over = d.at
	}
	d.upheaves = upheaval
	d.tracks.step(d.objects, d.at, dt, d.seen)
	if upheaval {
		d.tracks.forget(d.objects)
	}
	d.decide(d.objects, dt)
	d.adapt(now, before, light, dt)
	if global {
		d.history.clear()
	}
	return global
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
		if o.light = o.seemsLight(); (o.light || o.substance() < thingSubstance) && d.core(i, o, now) {
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

// decide takes the tracks' state into the spans.
func (d *Detector) decide(objects []object, dt time.Duration) {
	for i := range d.spans {
		s := &d.spans[i]
		e := evidence{at: d.at, dt: dt, wall: d.seen, may: d.upheaves || d.at <= d.blursTill}
		d.inside, d.things = d.inside[:0], d.things[:0]
		for j := range objects {
			o := &objects[j]
			if o.track < 0 {
				continue
			}
			moved := o.moved + o.creep
			if i > 0 {
				moved = d.movedIn(j, o, uint64(1)<<(i-1))
				if moved < d.minCells(s.share) && 4*moved < o.moved+o.creep || moved == 0 {
					continue
				}
			}
			k := &d.tracks.tracks[o.track]
			e.may = true
			if !k.live {
				continue
			}
			if e.track == nil || k.id < e.track.id {
				e.track = k
			}
			e.moved += moved
			if len(d.inside) < maxBoxes {
				box := d.box(o)
				d.inside = append(d.inside, box)
				d.things = append(d.things, thing{k.id, o.cells, box, d.seen})
			}
		}
		e.boxes, e.things = d.inside, d.things
		d.changes = s.step(e, d.config, d.changes)
	}
	held, lights, marks := false, false, [maxObjects]byte{}
	for j := range objects {
		o := &objects[j]
		if o.weak {
			d.share += float64(o.moved) / float64(d.grid.cells())
			if len(d.boxes) < maxBoxes {
				d.boxes = append(d.boxes, d.box(o))
			}
		}
		if o.light && o.gone == 0 {
			lights = true
			continue
		}
		switch {
		case o.track >= 0 && d.tracks.tracks[o.track].live, o.strong && o.cells >= d.tracks.small, o.light:
			marks[j], held = heldMoves, true
		case o.cells >= d.tracks.small:
			marks[j], held = heldLarge, true
		}
	}
	if held {
		d.hold(&marks)
	}
	for j := 0; lights && j < len(objects); j++ {
		if o := &objects[j]; o.light && o.gone == 0 {
			d.follow(j, o)
		}
	}
}

// movedIn counts the cells of object number j that move inside the region of the bit.
func (d *Detector) movedIn(j int, o *object, bit uint64) int {
	n := 0
	for y := o.whole.top; y < o.whole.bottom; y++ {
		for x := o.whole.left; x < o.whole.right; x++ {
			i := y*d.grid.width + x
			if d.inRegion[i]&bit != 0 && d.solid[i] != 0 && d.labels.of(x, y) == j && (d.flags[i]&cellMoved != 0 || o.creeps) {
				n++
			}
		}
	}
	return n
}

// hold marks the solid cells of objects, but those where something always moves. Nothing is marked yet.
func (d *Detector) hold(marks *[maxObjects]byte) {
	d.heldAny = true
	w := d.grid.width
	for _, r := range d.labels.runs {
		mark := byte(0)
		if j := d.labels.number[r.label]; j >= 0 {
			mark = marks[j]
		}
		from, to := 2*int(r.from), min(2*int(r.to), w)
		for y := 2 * int(r.y); y < min(2*int(r.y)+2, d.grid.height); y++ {
			if row := d.held[y*w+from : (y+1)*w]; to-from <= 16 && len(row) >= 16 { // mostly
				word := uint64(mark) * 0x0101010101010101
				binary.LittleEndian.PutUint64(row, word)
				binary.LittleEndian.PutUint64(row[8:], word)
			} else {
				fill(row, to-from, mark)
			}
		}
	}
	from, to := 2*d.labels.from*w, min(2*d.labels.to, d.grid.height)*w
	plane.Keep(d.held[from:to], d.solid[from:to], d.habit.memory[from:to], restlessAt)
}

// fill sets the first n bytes of a row, mostly few, and maybe some of those that follow.
func fill(row []byte, n int, v byte) {
	word := uint64(v) * 0x0101010101010101
	for ; n > 0 && len(row) >= 8; n -= 8 {
		binary.LittleEndian.PutUint64(row, word)
		row = row[8:]
	}
	for i := 0; i < n; i++ {
		row[i] = v
	}
}

// follow lets the background follow an object that is light.
func (d *Detector) follow(j int, o *object) {
	for y := o.whole.top; y < o.whole.bottom; y++ {
		for x := o.whole.left; x < o.whole.right; x++ {
			if i := y*d.grid.width + x; d.solid[i] != 0 && d.labels.of(x, y) == j {
				if o.glared > 0 {
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
func (d *Detector) box(o *object) Box {
	r := o.box
	if r.empty() {
		r = o.whole
	}
	w, h, side := float64(d.grid.pictureWidth), float64(d.grid.pictureHeight), float64(d.grid.side)
	return Box{
		Left: float64(r.left) * side / w, Top: float64(r.top) * side / h,
		Right: min(1, float64(r.right)*side/w), Bottom: min(1, float64(r.bottom)*side/h),
	}
}

// adapt takes the picture into the model: the upper half of the cells and the lower half in turn, which is as good and costs half.
func (d *Detector) adapt(now, before []uint16, light exposure, dt time.Duration) {
	ms := int(dt.Milliseconds())
	d.rows[0], d.rows[1] = d.rows[0]+ms, d.rows[1]+ms
	half := d.grid.cells() / 2
	from, to := 0, half
	if d.turn == 1 {
		from, to = half, d.grid.cells()
	}
	p := paceFor(min(d.rows[d.turn], 500), d.learning(), d.at < d.learned+youngFor)
	if d.newScene {
		p.Absorb = strangeAbsorb
	}
	if d.freshFor > 0 {
		q := paceFor(int(p.Ms), true, true)
		p.Background, p.Up, p.Down, p.Absorb = q.Background, q.Up, q.Down, strangeAbsorb
		d.freshFor -= min(d.freshFor, dt)
	}
	// Lamps that beat with the shutter upset the picture all the time: that is learned.
	if d.upset {
		d.upsetFor += dt
	} else {
		d.upsetFor -= min(d.upsetFor, dt/4)
	}
	if d.upset && d.upsetFor < upsetAtMost && !d.learning() {
		p.Up = 0
	}
	d.model.learn(now, before, light, d.flags, d.solid, d.held, from, to, p)
	d.rows[d.turn] = 0
	d.turn = 1 - d.turn
	d.model.pass(ms)
	d.unlit.pass(ms)
	d.habit.learn(d, dt)
	d.ghosts.lay(d, now)
}
