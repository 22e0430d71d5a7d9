package tamper

import (
	"math"
	"time"

	"vmsbridge/motion"
)

const (
	oddShare = 0.2 // above, another reference may fit better
	oddFor   = 2 * time.Minute
)

// look judges one picture against the references.
func (w *Watch) look(p motion.Picture, dt time.Duration) {
	w.looks++
	w.now.take(w.grid, p, dt.Seconds())
	w.curl.take(w.grid, p)
	ref := w.refs[w.active]
	if ref.looks < learnLooks {
		d := ref.detail(w.grid, &w.curl)
		w.learn(ref, &d, dt, 1)
		return
	}
	m := w.choose()
	ref = w.refs[w.active]
	d := ref.detail(w.grid, &w.curl)
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
			w.learn(ref, &d, dt, soft)
		}
	}
	w.alternate(&m, p, dt)
	w.decide(reason, p.Time, dt, tenths(reason, &m, w.now.stir))
}

// toward moves a mean over some seconds; 0 is no mean yet.
func toward(mean, v float32, dt time.Duration, seconds float64) float32 {
	if mean == 0 {
		return v
	}
	return mean + float32(1-math.Exp(-dt.Seconds()/seconds))*(v-mean)
}

// learn takes the look into a reference, of which d is the detail. soft below 1 makes it slower.
func (w *Watch) learn(r *reference, d *detail, dt time.Duration, soft float32) {
	r.learn(&w.now, dt.Seconds(), soft)
	r.learnFine(w.grid, &w.curl, d, soft*r.weight(dt.Seconds(), forget))
	r.looks++
	r.used = w.looks
}

// choose compares with the active reference, and with one other if it does not fit well; the better
// one becomes the active one.
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

// alternate learns a view that is not quite as before: another light, or the new view after the
// camera was turned.
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
	d := w.fresh.detail(w.grid, &w.curl)
	w.learn(w.fresh, &d, dt, 1)
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
