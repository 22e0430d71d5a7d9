package tamper

import (
	"math"
	"time"

	"vmsbridge/motion"
)

const (
	stirs         = 10   // grey levels by which a cell must change to stir
	restless      = 0.08 // share of stirring cells at which something moves through the view
	hold          = 5500 * time.Millisecond
	calm          = 2 * time.Second // without doubt, after which a span ends
	fewBlocks     = 6               // with structure: with less, structure tells nothing
	goneShare     = 0.6             // of the structure, that something covers
	nearlyAll     = 0.85
	mostly        = 0.75
	partEmpty     = 0.85  // share of what is gone from a part of the view that must be without structure: a van that parks there has some
	whiteOut      = 0.5   // share of saturated cells that blinds whatever else is seen
	hidesShare    = 0.45  // of the structure, that something without any hides
	shadesStay    = 0.7   // correlation of the picture's light and dark behind a lens that is only out of focus
	sameLight     = 0.85  // and by the same light
	shadesLeast   = 0.55  // and its gain
	crispLeast    = 0.12  // share of the blocks that are gone with fine structure of their own, at which it is another view that is seen
	veiled        = 0.6   // of the usual contrast, in a picture much darker than it was, at which something lies over the view: the dark itself keeps contrast
	unlit         = 20    // grey level below which contrast says nothing
	unlike        = 0.43  // how much alike another view may be by chance: a horizon, a pavement
	similar       = 0.55  // likewise, if even what is alike is not so in detail
	inPlace       = 0.78  // of the fine structure where it was, at which what is alike is the same
	shinesThrough = 0.25  // of it, that is still where it was behind the light of a lamp
	backShare     = 0.4   // below, the view is as before
	oddShare      = 0.2   // above, another reference may fit better
	flare         = 0.015 // share of cells that became saturated
	blurred       = 0.42  // of the usual sharpness
	asLearned     = 0.7   // of the sharpness of what was learned, at least, is usual before anything is known
	focused       = 0.6   // again
	softened      = 0.75
	oddFor        = 2 * time.Minute
)

// doubt adds up how long the view has not been as before, and why.
type doubt struct {
	since  time.Time
	last   time.Time
	weight time.Duration // time in doubt; what moves through the view counts less
	calm   time.Duration // since the last look in doubt
	tally  [reasons]time.Duration
}

// add takes a look in doubt; of its time counts the given number of tenths.
func (d *doubt) add(r Reason, at time.Time, dt time.Duration, tenths int) {
	if d.weight == 0 {
		d.since = at
	}
	d.last, d.calm = at, 0
	d.tally[r] += dt
	d.weight += dt * time.Duration(tenths) / 10
}

// reason is the one for the longest time.
func (d *doubt) reason() Reason {
	best := Covered
	for r := Covered; r < reasons; r++ {
		if d.tally[r] > d.tally[best] {
			best = r
		}
	}
	return best
}

// look judges one picture against the references.
func (w *Watch) look(p motion.Picture, dt time.Duration) {
	w.looks++
	w.now.take(w.grid, p, dt.Seconds())
	w.followLight(dt)
	ref := w.refs[w.active]
	if ref.looks < learnLooks {
		w.learn(ref, p, dt, 1)
		return
	}
	m := w.choose()
	ref = w.refs[w.active]
	d := ref.detail(w.grid, p, 0)
	reason := w.judge(ref, &m, &d)
	if reason == None || w.open == Defocused {
		if r := w.focus(ref, &m, &d, p, dt); reason == None {
			reason = r
		}
	}
	if reason == None && w.open == None && w.doubt.weight == 0 && (m.gone < backShare || m.blocks < fewBlocks) {
		soft := float32(1)
		if w.sharp < softened {
			soft = 0.1
		}
		if m.contrast > 0 {
			ref.contrast = toward(ref.contrast, m.contrast, dt, contrastFade)
		}
		if m.gone < oddShare {
			w.learn(ref, p, dt, soft)
		}
	}
	w.alternate(&m, p, dt)
	w.decide(reason, p.Time, dt, tenths(reason, &m, w.now.stir))
}

// tenths is how much a look in doubt counts: less where part of the view is as before, and where something moves through it.
func tenths(r Reason, m *match, stir float32) int {
	switch moves, part := stir > restless, m.gone < nearlyAll && r != Defocused; {
	case moves && part:
		return 6
	case moves || part:
		return 8
	}
	return 10
}

// toward moves a mean over some seconds; 0 is no mean yet.
func toward(mean, v float32, dt time.Duration, seconds float64) float32 {
	if mean == 0 {
		return v
	}
	return mean + float32(1-math.Exp(-dt.Seconds()/seconds))*(v-mean)
}

// followLight tells the watch for frozen pictures when the light changed.
func (w *Watch) followLight(dt time.Duration) {
	w.usual = toward(w.usual, w.now.level, dt, 5)
	if abs(w.now.level-w.usual) > max(4, 0.15*w.usual) {
		w.still.unsettle()
	}
}

// learn takes the look into a reference. soft below 1 makes it slower.
func (w *Watch) learn(r *reference, p motion.Picture, dt time.Duration, soft float32) {
	r.learn(&w.now, dt.Seconds(), soft)
	r.detail(w.grid, p, soft*r.weight(dt.Seconds(), forget))
	r.looks++
	r.used = w.looks
}

// choose compares with the active reference, and with one other if it does not fit well; the better one becomes the active one.
func (w *Watch) choose() match {
	m := w.refs[w.active].compare(w.grid, &w.now)
	if m.gone < oddShare {
		return m
	}
	w.try = (w.try + 1) % len(w.refs)
	if other := w.refs[w.try]; w.try != w.active && other.looks >= learnLooks {
		if o := other.compare(w.grid, &w.now); o.blocks >= fewBlocks && o.gone < m.gone-0.1 && o.gone < backShare {
			w.active = w.try
			return o
		}
	}
	return m
}

// judge tells from the blocks what was done to the view.
func (w *Watch) judge(ref *reference, m *match, d *detail) Reason {
	covers := float32(goneShare)
	if w.open != None {
		covers = backShare
	}
	if m.blocks < fewBlocks {
		return None
	}
	glares := w.now.bright - ref.bright
	if m.gone < covers && (m.weak < hidesShare || w.open != None) {
		if m.dark && m.contrast > 0 && m.contrast < veiled*min(ref.contrast, 1.5) && w.now.level >= unlit {
			return w.veil(ref, glares)
		}
		return None
	}
	crisp := d.crisp(&m.lost)
	part := float32(partEmpty)
	if m.gone >= mostly {
		part = 0.5
	}
	empty := crisp < crispLeast && (m.gone >= mostly || m.weak >= part*m.gone)
	if glares >= flare && !empty && m.weak >= part*m.gone { // what shines through a lamp's light is what was there, and faint
		place, told := d.place(&m.lost)
		empty = told && place >= shinesThrough || m.weak >= partEmpty*m.gone
	}
	switch {
	case empty:
		return w.veil(ref, glares)
	case m.gone < covers:
		return None
	case glares >= whiteOut:
		return Blinded
	case crisp >= crispLeast && (m.gone >= nearlyAll && m.fit <= unlike || elsewhere(m, d)):
		return Turned
	}
	return None
}

// veil tells what lies over a view of which nothing is to be seen but light and dark.
func (w *Watch) veil(ref *reference, glares float32) Reason {
	if glares >= flare {
		return Blinded
	}
	if s := ref.shading(w.grid, &w.now, nil); s.fit >= shadesStay && s.gain*ref.light(&w.now) >= shadesLeast*ref.contrast {
		return Defocused
	}
	return Covered
}

// elsewhere tells whether even what is alike is so only by chance: a horizon, a fence.
func elsewhere(m *match, d *detail) bool {
	place, told := d.place(&m.kept)
	if !told {
		return m.fit <= unlike
	}
	return place < inPlace && m.fit <= similar
}

// focus compares the sharpness of what is there.
func (w *Watch) focus(ref *reference, m *match, d *detail, p motion.Picture, dt time.Duration) Reason {
	if m.gain <= 0 {
		return None
	}
	f := d.sharpness(&m.kept)
	if f.was < fineLeast || f.grainy > 2 { // there is nothing, or too little is known of it as yet
		w.sharp = 1
		return None
	}
	s := min(f.gain/m.gain, 1.5)
	if still := root(f.now/f.was) / m.gain; still > s {
		s = still // it is there, but not in its place: the camera sways, or was moved by a hair
	}
	usual := ref.sharp
	if usual == 0 {
		usual = max(s, asLearned)
	}
	if s < focused*usual {
		s = max(s, f.grainy*ref.moved(w.grid, p, &m.kept, w.row)/m.gain)
	}
	w.sharp = toward(w.sharp, s/max(usual, 0.05), dt, settle)
	limit := float32(blurred)
	if w.open == Defocused {
		limit = focused
	}
	if w.sharp < limit {
		if ref.shading(w.grid, &w.now, &m.kept).fit < sameLight { // by another light other edges stand out, and infrared is softer
			return None
		}
		return Defocused
	}
	if w.sharp >= softened && w.open == None && m.gone < oddShare { // what is no longer there says nothing of how sharp it was
		ref.sharp = toward(ref.sharp, s, dt, forget)
	}
	return None
}

// alternate learns a view that is not quite as before: another light, or the new view after the camera was turned.
func (w *Watch) alternate(m *match, p motion.Picture, dt time.Duration) {
	wait := oddFor
	switch {
	case w.open == Turned || w.open == Defocused:
		wait = w.accept
	case w.open != None || m.gone < oddShare && w.sharp >= softened || m.blocks < fewBlocks:
		w.stable = 0
		w.fresh.looks = 0
		return
	}
	if w.fresh.looks >= learnLooks && w.fresh.compare(w.grid, &w.now).gone >= backShare {
		w.fresh.forget()
		w.stable = 0
	}
	w.learn(w.fresh, p, dt, 1)
	if w.stable += dt; w.stable < wait {
		return
	}
	oldest := (w.active + 1) % len(w.refs)
	for i, r := range w.refs {
		if i != w.active && (r.looks == 0 || r.used < w.refs[oldest].used) {
			oldest = i
		}
	}
	w.refs[oldest], w.fresh = w.fresh, w.refs[oldest]
	w.active, w.stable, w.sharp = oldest, 0, 1
	w.fresh.forget()
	if w.open != None {
		w.last = p.Time
		w.end(true)
	}
	w.doubt = doubt{}
}

// decide makes spans of looks.
func (w *Watch) decide(r Reason, at time.Time, dt time.Duration, tenths int) {
	d := &w.doubt
	switch {
	case r != None:
		d.add(r, at, dt, tenths)
	case d.weight > 0:
		d.calm += dt
	}
	switch {
	case w.open == Frozen:
	case w.open == None && d.weight >= hold:
		w.begin(d.reason(), d.since, at)
	case w.open != None && r != None:
		w.last = at
	case w.open != None && d.calm >= calm:
		w.end(false)
		w.doubt = doubt{}
	case w.open == None && d.calm >= calm:
		w.doubt = doubt{}
	}
}
