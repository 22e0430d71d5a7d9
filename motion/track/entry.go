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
	scene bool          // it was the first picture of a scene
}

// Begins tells that the picture of the times at and wall is the first of a scene: what is seen to
// move in the next ones moved in it as well.
func (t *Tracker) Begins(at time.Duration, wall time.Time) {
	t.change = change{began: wall, over: at, scene: true}
}

// Upheaves tells that the picture of the times at and wall changes as a whole, and whether it is
// the first that does.
func (t *Tracker) Upheaves(at time.Duration, wall time.Time, first bool) {
	t.change.over, t.change.scene = at, false
	if first {
		t.change.began = wall
	}
}

// entered dates the start of a track that is confirmed back to when the picture changed, if its
// thing was there from the first picture after that on, and is further inside than it can have come
// since.
func (t *Tracker) entered(k *Track, at time.Duration) {
	first := &k.trail.sights[0]
	if t.change.over == 0 || k.trail.n > trailLength || first.at <= t.change.over ||
		first.at-t.change.over > entrySoon || k.Start.Sub(first.wall) > entrySoon {
		return
	}
	way := k.box.Right // the way that its front has come
	if k.nowX < k.fromX {
		way = t.width - k.box.Left
	}
	came := at - time.Duration(float64(way)/(entrySpeed*float64(t.width))*float64(time.Second))
	start := first.wall.Add(min(0, came-first.at))
	if start.Before(t.change.began) {
		start = t.change.began
	}
	if start.Before(k.Start) {
		k.Start, k.Dated = start, true
	}
}
