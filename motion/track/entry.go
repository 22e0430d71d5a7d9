package track

import (
	"time"

	"vmsbridge/motion/area"
)

const (
	entryFor    = 4 * time.Second        // for which it is known who had begun to move
	entrySpeed  = 0.25                   // of the picture's width, that somebody goes in a second meanwhile
	entryHeight = 2                      // times as high, at most, as before
	entrySoon   = 400 * time.Millisecond // after the change, in which who came meanwhile is seen for the first time
)

// upheavals is what the tracks need to know of the last change of the picture as a whole.
type upheavals struct {
	began   time.Time     // its first picture
	over    time.Duration // its last one
	entries []entry       // who came just before
}

// entry is something that had begun to move, and was not confirmed yet, when the whole picture
// changed: who switches the light on comes in just before that.
type entry struct {
	box   area.Rect
	at    time.Duration
	start time.Time
}

// Remember keeps what has begun to move, for the time after the picture changes as a whole, which
// it begins to do now. Where it blurs all edges seem to move: only who comes in from the side is
// known.
func (t *Tracker) Remember(at time.Duration, wall time.Time, blurs bool) {
	t.change.began, t.change.entries = wall, t.change.entries[:0]
	for i := range t.Tracks {
		k := &t.Tracks[i]
		moves := !k.Confirmed && k.strong > 0 && at-k.strongAt <= GoneAfter && k.cells >= float64(t.small) &&
			k.solid() && k.away() >= minTravel
		if moves && (!blurs || k.box.Left <= 1 || k.box.Right >= t.width-1) {
			t.change.entries = append(t.change.entries, entry{k.box, at, k.trail.begin(at, lookBack, k.contrast)})
		}
	}
}

// Upheaves tells that the picture as a whole still changes, at the time at.
func (t *Tracker) Upheaves(at time.Duration) { t.change.over = at }

// entered is when the thing of a track that is confirmed began to move: before the picture changed,
// if something was where it may have come from; while it changed, if it was there from the first
// picture after that, and is further from where it came than it can have gone since.
func (t *Tracker) entered(k *Track, at time.Duration) time.Time {
	for _, e := range t.change.entries {
		past := at - e.at
		gap, reach := e.box.Apart(k.box)
		high, was := k.box.Bottom-k.box.Top, e.box.Bottom-e.box.Top
		if past <= entryFor && e.start.Before(k.Start) && float64(gap) <= float64(reach)+
			entrySpeed*float64(t.width)*past.Seconds() &&
			high <= entryHeight*was && was <= entryHeight*high {
			return e.start
		}
	}
	first := &k.trail.sights[0]
	if t.change.over == 0 || k.trail.n > trailLength || k.trail.comesIn(k.contrast) || first.at <= t.change.over ||
		first.at-t.change.over > entrySoon || k.Start.Sub(first.wall) > entrySoon {
		return k.Start
	}
	way := k.box.Right // the way that its front has come
	if k.nowX < k.fromX {
		way = t.width - k.box.Left
	}
	came := at - time.Duration(float64(way)/(entrySpeed*float64(t.width))*float64(time.Second))
	if back := first.at - came; back > 0 {
		start := first.wall.Add(-back)
		if start.After(k.Start) {
			start = k.Start
		}
		if start.Before(t.change.began) {
			start = t.change.began
		}
		return start
	}
	return k.Start
}
