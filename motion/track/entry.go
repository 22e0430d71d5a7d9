package track

import "time"

const (
	entrySpeed = 0.25                   // of the picture's width, that somebody goes in a second meanwhile
	entrySoon  = 400 * time.Millisecond // after the change, in which who came meanwhile is seen for the first time
)

// change is the last change of the picture as a whole.
type change struct {
	began time.Time     // its first picture
	over  time.Duration // its last one, 0 if there was none
}

// Upheaves tells that the picture of the times at and wall changes as a whole, and whether it is
// the first that does.
func (t *Tracker) Upheaves(at time.Duration, wall time.Time, first bool) {
	t.change.over = at
	if first {
		t.change.began = wall
	}
}

// entered is when the thing of a track that is confirmed began to move: while the picture changed,
// if it was there from the first picture after that on, and is further inside than it can have come
// since.
func (t *Tracker) entered(k *Track, at time.Duration) time.Time {
	first := &k.trail.sights[0]
	if t.change.over == 0 || k.trail.n > trailLength || first.at <= t.change.over ||
		first.at-t.change.over > entrySoon || k.Start.Sub(first.wall) > entrySoon {
		return k.Start
	}
	way := k.box.Right // the way that its front has come
	if k.nowX < k.fromX {
		way = t.width - k.box.Left
	}
	came := at - time.Duration(float64(way)/(entrySpeed*float64(t.width))*float64(time.Second))
	start := first.wall.Add(min(0, came-first.at))
	switch {
	case start.After(k.Start):
		return k.Start
	case start.Before(t.change.began):
		return t.change.began
	}
	return start
}
