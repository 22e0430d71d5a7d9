package motion

import (
	"time"

	"vmsbridge/motion/plane"
)

const (
	learnFor      = 500 * time.Millisecond // of a new scene, before anything is reported
	settleFor     = 900 * time.Millisecond // in which background and noise of a new scene are learned fast
	learnPictures = 4
	// of a new scene, after which what moves is followed: it is motion once the scene is learned
	followAfter = 2
	// after which it is known what always moves: restlessAfter, and while it was learned
	restlessLearned = 4500 * time.Millisecond
	restlessKnown   = 10 * time.Second // after which that is known well
	maxStep         = 250 * time.Millisecond
)

// Step looks at one picture. Nothing of p is kept after the call. A picture whose plane is shorter
// than it says, or whose time is that of the picture before or up to a second earlier, is left out;
// a larger step backwards, or a pause of some seconds, ends the open spans, and another picture
// size acts as Gap; those ends come in Result.Changes.
func (d *Detector) Step(p Picture) Result {
	d.changes, d.boxes, d.moving = d.changes[:0], d.boxes[:0], 0
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
	if d.seen, fell = d.snowfall.run(newest.cells, p.Time, dt, d.tracks.Falling()); fell {
		d.relearn()
	}
	d.smooth.run(newest.cells, d.grid.width)
	if d.pictures > 0 {
		d.steady.Run(d.model.background, newest.cells)
		d.light.Take(newest.cells, newest.samples)
		d.light.Take(d.model.background, d.light.Ground)
		if d.bands.Run(d.model.background, newest.cells, d.light.Ground, newest.samples, d.at) {
			d.relearn()
		}
	}
	if d.pictures == 0 || d.bands.On {
		d.light.Take(newest.cells, newest.samples)
	}
	if d.pictures++; d.pictures == 1 {
		d.model.begin(newest.cells)
		copy(d.light.Ground, newest.samples)
		d.unlit.clear()
		d.began, d.learned = d.at, d.at+learnFor
		d.rows = [2]int{}
		d.tracks.Begins(d.at, d.seen)
		clear(d.flags)
		d.looked = false
	}
	if d.keener != nil {
		d.keener.Step(p)
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
	s := d.sight()
	r := Result{Changes: d.changes, Activity: Activity{Share: s.moving, Learning: d.learning(), Global: global}}
	if len(d.changes) == 0 {
		r.Changes = nil
	}
	if len(s.boxes) > 0 {
		r.Activity.Boxes = s.boxes
	}
	for i := range d.spans {
		r.Moving = r.Moving || d.spans[i].open
		r.Candidate = r.Candidate || d.spans[i].waiting
	}
	r.Candidate = r.Candidate || d.tracks.Candidate() || d.keener != nil && d.keener.tracks.Candidate()
	return r
}

// look is Step for the cells of the newest picture. It tells whether the light of the whole scene
// changed.
func (d *Detector) look(now []uint16, dt time.Duration) (global bool) {
	before, light := now, plane.Same
	if d.looked {
		d.light.Again(d.history.current().samples)
	} else {
		d.light.Look(d.history.current().samples, d.flags, cellFore|cellMoved)
	}
	d.looked = false
	if long := d.history.near(longLag); long != nil {
		before = long.cells
		light = d.light.Fit(long.samples)
		if d.learning() {
			d.model.floor(uint16(startNoise * 256 * float64(max(0, d.light.Spread()-1))))
		}
	}
	if e := d.light.Fit(d.light.Ground); e.Shift() > 128 {
		d.model.expose(e)
		d.unlit.expose(e)
	}
	d.doubt = d.doubts()
	plane.Classify(now, before, light, d.model.background, d.doubt, d.contrast, d.flags)
	d.unlit.restore(&d.model, d.doubt, now, d.flags, d.contrast)
	global = d.relight(now, before)
	solid := d.despeckle.Run(d.flags, d.mask, d.solid)
	d.objects = nil
	if d.heldAny {
		clear(d.held)
		d.heldAny = false
	}
	d.tracks.Learning = d.learning()
	d.tracks.Young, d.tracks.Early = d.at < d.began+restlessLearned, d.at < d.began+restlessKnown
	cells, squares := d.grid.cells(), plane.Block(0)
	if d.tracks.Scattered = false; solid > cells/100 || d.jumpedAt != 0 {
		squares = d.squares()
		d.tracks.Scattered = solid > cells/100 && scattered(d.square)
		if d.tracks.Scattered && d.blurs(now) {
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
	minMoved := d.leastMoved()
	if solid >= max(2, minMoved/2) && d.pictures > followAfter {
		d.objects = d.find(now, before, light, minMoved)
	}
	if upheaval {
		d.tracks.Upheaves(d.at, d.seen, !d.upheaves)
	}
	d.upheaves = upheaval
	d.tracks.Step(d.objects, d.at, dt, d.seen)
	if upheaval {
		d.tracks.Forget(d.objects)
	}
	d.decide(dt)
	d.adapt(now, before, light, dt)
	if global {
		d.history.clear()
	}
	return global
}
