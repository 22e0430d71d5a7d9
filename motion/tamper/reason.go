package tamper

import (
	"time"

	"vmsbridge/motion"
)

// How much of the structure of the blocks that have any is gone.
const (
	fewBlocks  = 6    // with structure: with less, structure tells nothing
	backShare  = 0.4  // below, the view is as before
	goneShare  = 0.6  // of the structure, that something covers
	hidesShare = 0.45 // of the structure, that something without any hides
	mostly     = 0.75
	nearlyAll  = 0.85
	// share of what is gone from a part of the view that must be without structure: a van that
	// parks there has some
	partEmpty = 0.85
)

// Light: what shines, and what takes contrast.
const (
	flare         = 0.015 // share of cells that became saturated
	whiteOut      = 0.5   // likewise, that blinds whatever else is seen
	shinesThrough = 0.35  // of the fine structure, that is still where it was behind the light of a lamp
	// of the usual contrast, in a picture much darker than it was, at which something lies over the
	// view: the dark itself keeps contrast
	veiled = 0.6
	unlit  = 20 // grey level below which contrast says nothing
)

// Another view.
const (
	// share of the blocks that are gone with fine structure of their own, at which it is another
	// view that is seen
	crispLeast = 0.12
	unlike     = 0.43 // how much alike another view may be by chance: a horizon, a pavement
	similar    = 0.55 // likewise, if even what is alike is not so in detail:
	inPlace    = 0.82 // less than this of its fine structure is where it was
	surely     = 0.95 // the same, whatever the rest looks like
	// share of the blocks that are gone with fine structure of their own, from which what is in its
	// place may be so by chance
	crispView  = 0.57
	again      = 0.5 // mean correlation with the looks before, at which there is structure in the noise
	againLooks = 3   // before, at least

	// A view of which less than goneShare is another's is another view if it is at most strayFit
	// alike, less than strayPlace of the fine structure of what is alike is where it was, and
	// crispMost of what is gone has its own.
	strays     = 0.4
	strayFit   = 0.5
	strayPlace = 0.6
	crispMost  = 0.5
)

// Focus.
const (
	blurred     = 0.42 // of the usual sharpness
	focused     = 0.6  // again
	softened    = 0.75
	asLearned   = 0.7  // of the sharpness of what was learned, at least, is usual before anything is known
	drowned     = 0.1  // of the noise, that the fine structure must be for its sharpness to be told
	shadesStay  = 0.7  // correlation of the picture's light and dark behind a lens that is only out of focus
	shadesLeast = 0.55 // and its gain
	sameLight   = 0.85 // correlation of the light and dark of what is there, by the same kind of light
)

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
	thin := m.dark && m.contrast > 0 && m.contrast < veiled*min(ref.contrast, 1.5) && w.now.level >= unlit
	switch hidden := m.gone >= covers || m.weak >= hidesShare && w.open == None; {
	case hidden:
		return w.hidden(ref, m, d, covers, glares)
	case thin && glares >= flare:
		return Blinded
	case thin: // a lens out of focus darkens nothing
		return Covered
	case m.gone >= strays && m.fit <= strayFit && strange(d, &m.kept, strayPlace):
		if crisp, told := d.crisp(&m.lost); told && crisp >= crispMost {
			return Turned
		}
	}
	return None
}

// hidden tells what is before the view, or instead of it, where most of its structure is gone.
func (w *Watch) hidden(ref *reference, m *match, d *detail, covers, glares float32) Reason {
	crisp, told := d.crisp(&m.lost)
	kept, knows := d.place(&m.kept)
	same := knows && (kept >= surely || kept >= inPlace && crisp < crispView)
	part := float32(partEmpty)
	if m.gone >= mostly && !same {
		part = 0.5
	}
	faint := m.weak >= part*m.gone
	empty := crisp < crispLeast && (faint || told && m.gone >= mostly)
	// what shines through a lamp's light is what was there, and faint
	if glares >= flare && !empty && faint && m.gone >= covers {
		place, told := d.place(&m.lost)
		empty = m.weak >= partEmpty*m.gone || told && place >= shinesThrough
	}
	switch {
	case empty:
		return w.veil(ref, glares)
	case m.gone < covers:
		return None
	case glares >= whiteOut:
		return Blinded
	case !told:
		return w.drowned(ref, m, d, glares)
	case crisp < crispLeast:
		return None
	}
	switch {
	case same: // something stands before it, and the rest may be in fog
		return None
	case m.fit <= unlike, knows && m.fit <= similar:
		return Turned
	}
	return None
}

// drowned tells the same in the noise of the night, in which no fine structure is to be seen: what
// comes again and again is no noise.
func (w *Watch) drowned(ref *reference, m *match, d *detail, glares float32) Reason {
	part := m.gone < nearlyAll
	if m.fit > unlike || part && !strange(d, &m.kept, inPlace) {
		return None
	}
	if w.fresh.looks >= againLooks && w.fresh.compare(w.grid, &w.now).signed >= again {
		return Turned
	}
	if part {
		return None
	}
	return w.veil(ref, glares)
}

// veil tells what lies over a view of which nothing is to be seen but light and dark.
func (w *Watch) veil(ref *reference, glares float32) Reason {
	if glares >= flare {
		return Blinded
	}
	if s := ref.shading(w.grid, &w.now, nil); s.fit >= shadesStay &&
		s.gain*ref.light(&w.now) >= shadesLeast*ref.contrast {
		return Defocused
	}
	return Covered
}

// strange tells whether some blocks have fine structure and less than a share of it is where it
// was: what is alike in them is so only by chance, as a horizon is, or a fence.
func strange(d *detail, of *[blocks]bool, share float32) bool {
	place, told := d.place(of)
	return told && place < share
}

// focus compares the sharpness of what is there.
func (w *Watch) focus(ref *reference, m *match, d *detail, p motion.Picture, dt time.Duration) Reason {
	if m.gain <= 0 {
		return None
	}
	f := d.sharpness(&m.kept)
	// there is nothing, or too little is known of it as yet
	if f.was < max(fineLeast, drowned*f.noise) || f.grainy > 2 {
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
		// by another light other edges stand out, and infrared is softer
		if ref.shading(w.grid, &w.now, &m.kept).fit < sameLight {
			return None
		}
		return Defocused
	}
	// what is no longer there says nothing of how sharp it was
	if w.sharp >= softened && w.open == None && m.gone < oddShare {
		ref.sharp = toward(ref.sharp, s, dt, forget)
	}
	return None
}
