package tamper

import "time"

const (
	stirs    = 10   // grey levels by which a cell must change to stir
	restless = 0.08 // share of stirring cells at which something moves through the view
	hold     = 5500 * time.Millisecond
	calm     = 2 * time.Second // without doubt, after which a span ends
	fades    = 6               // looks, in which what was told of the reason counts less
)

// doubt adds up how long the view has not been as before, and why.
type doubt struct {
	since  time.Time
	last   time.Time
	weight time.Duration          // time in doubt; what moves through the view counts less
	calm   time.Duration          // since the last look in doubt
	tally  [reasons]time.Duration // what is long ago counts less
}

// add takes a look in doubt; of its time counts the given number of tenths.
func (d *doubt) add(r Reason, at time.Time, dt time.Duration, tenths int) {
	if d.weight == 0 {
		d.since = at
	}
	d.last, d.calm = at, 0
	for k := range d.tally {
		d.tally[k] -= d.tally[k] / fades
	}
	d.tally[r] += dt
	d.weight += dt * time.Duration(tenths) / 10
}

// reason is the one for the longest time lately: while the deed is done, it may look like another.
func (d *doubt) reason() Reason {
	best := Covered
	for r := Covered; r < reasons; r++ {
		if d.tally[r] > d.tally[best] {
			best = r
		}
	}
	return best
}

// tenths is how much a look in doubt counts: less where part of the view is as before, and where
// something moves through it.
func tenths(r Reason, m *match, stir float32) int {
	switch moves, part := stir > restless, m.gone < nearlyAll && r != Defocused; {
	case moves && part:
		return 6
	case moves || part:
		return 8
	}
	return 10
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
