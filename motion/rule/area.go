package rule

import "time"

const (
	staysFor = 200 * time.Millisecond  // inside, before it is an intrusion: a box that flickers is none
	leftFor  = 1500 * time.Millisecond // nothing inside, after which a span ends
	// for which somebody who stood in an area when they were last seen may be standing there still:
	// the detector takes who does not move for background
	standsFor = 10 * time.Second
	standsBy  = 0.1 // of its size in a second, that a thing moves at most to stand
)

// area is an Area in heights of the picture; the last point of its outline is the first.
type area struct {
	Area
	outline   []point
	intrusion span
	loiter    span
}

// atArea is what a path does in an area.
type atArea struct {
	inside bool
	since  time.Duration
	leftAt time.Duration // when it was last inside
}

// span is a time during which something is in an area, or has been for too long.
type span struct {
	open        bool
	object      string
	start, last time.Time
	lastAt      time.Duration
	best        rect
	bestTime    time.Time
}

// step takes where a path is in its newest picture.
func (a *area) step(s *atArea, k *path, aspect float64, at time.Duration) {
	foot := point{min(max(k.foot.x, least), aspect-least), min(k.foot.y, 1-least)} // who is cut by the border is inside
	if a.contains(foot) {
		if !s.inside {
			s.inside, s.since = true, at
		}
		s.leftAt = at
	} else if away, _ := apart(a.outline, foot); away >= k.clear() || away >= clearLeast && at-s.leftAt >= behindFor {
		s.inside = false // it went away, or stopped soon behind the outline
	}
}

// contains tells whether the point is inside (even-odd rule).
func (a *area) contains(p point) bool {
	inside := false
	for i := range len(a.outline) - 1 {
		u, v := a.outline[i], a.outline[i+1]
		if (u.y > p.y) != (v.y > p.y) && p.x < (v.x-u.x)*(p.y-u.y)/(v.y-u.y)+u.x {
			inside = !inside
		}
	}
	return inside
}

// hold takes the paths of a picture into the area's spans.
func (w *Watch) hold(i int) {
	a := &w.areas[i]
	for j := range w.paths {
		k := &w.paths[j]
		s := &k.areas[i]
		if !s.inside || !k.counts() {
			continue
		}
		if a.Intrusion && w.at-s.since >= staysFor {
			w.add(&a.intrusion, IntrusionBegan, a.ID, k, s.since)
		}
		if a.Loiter > 0 && w.at-s.since >= a.Loiter {
			w.add(&a.loiter, LoiterBegan, a.ID, k, s.since+a.Loiter)
		}
	}
	if a.intrusion.open && w.at-a.intrusion.lastAt >= leftFor {
		w.end(&a.intrusion, IntrusionEnded, a.ID)
	}
	if a.loiter.open && w.at-a.loiter.lastAt >= leftFor {
		w.end(&a.loiter, LoiterEnded, a.ID)
	}
}

// add takes a path into a span, which it begins if nothing is in it.
func (w *Watch) add(s *span, kind Kind, id string, k *path, since time.Duration) {
	if !s.open {
		start := w.time(since)
		if !start.After(s.last) { // which another thing ended
			start = s.last.Add(time.Millisecond)
		}
		*s = span{open: true, object: k.object, start: start, last: w.wall, lastAt: w.at, best: k.box, bestTime: w.wall}
		w.changes = append(w.changes, Change{Kind: kind, Rule: id, Object: s.object, Start: s.start, Last: w.wall,
			Box: k.box.inPicture(w.aspect), BestTime: w.wall})
	}
	if k.seenAt != w.at && !k.stands { // it is only not known yet that it has gone
		return
	}
	s.last, s.lastAt = w.wall, w.at
	if k.seenAt == w.at && k.box.area() > s.best.area() {
		s.best, s.bestTime = k.box, w.wall
	}
}

// end closes a span.
func (w *Watch) end(s *span, kind Kind, id string) {
	s.open = false
	w.changes = append(w.changes, Change{Kind: kind, Rule: id, Object: s.object, Start: s.start, Last: s.last,
		Box: s.best.inPicture(w.aspect), BestTime: s.bestTime})
}

// Each tells of the spans that are open: their kind, IntrusionBegan or LoiterBegan, the area, and
// when something was last inside.
func (w *Watch) Each(tell func(kind Kind, id string, last time.Time)) {
	for i := range w.areas {
		a := &w.areas[i]
		if a.intrusion.open {
			tell(IntrusionBegan, a.ID, a.intrusion.last)
		}
		if a.loiter.open {
			tell(LoiterBegan, a.ID, a.loiter.last)
		}
	}
}
