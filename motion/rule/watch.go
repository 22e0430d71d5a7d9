package rule

import (
	"fmt"
	"strconv"
	"time"

	"vmsbridge/motion"
)

// longPause is the time between two pictures after which nothing goes on.
const longPause = 2 * time.Second

// maxCalled bounds what is known of tracks that may still be about.
const maxCalled = 256

// Watch holds the things of one camera against its lines and areas. It is not safe for concurrent
// use, and starts no goroutine.
type Watch struct {
	config Config
	lines  []line
	areas  []area
	aspect float64 // of the pictures, width by height; 0 before the first

	wall    time.Time
	at      time.Duration // own time: sum of what passed between pictures
	paths   []path
	called  map[int]int // things of a track that have a number
	seen    []seen
	pairs   []pair
	taken   []int  // by path, for follow
	used    []bool // by path, for match
	changes []Change
}

// New returns a Watch, or all problems of the Config. The Config's slices must not be changed
// afterwards.
func New(c Config) (*Watch, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("check lines and areas: %w", err)
	}
	return &Watch{config: c, called: map[int]int{}}, nil
}

// Gap ends what is open: the stream was lost, or what comes next has nothing to do with what was.
// The slice is valid until the next call of a method.
func (w *Watch) Gap() []Change {
	w.changes = w.changes[:0]
	w.gap()
	w.wall = time.Time{}
	return w.changes
}

func (w *Watch) gap() {
	w.paths = w.paths[:0]
	clear(w.called)
	for i := range w.areas {
		if a := &w.areas[i]; a.intrusion.open {
			w.end(&a.intrusion, IntrusionEnded, a.ID)
		}
		if a := &w.areas[i]; a.loiter.open {
			w.end(&a.loiter, LoiterEnded, a.ID)
		}
	}
}

// resize prepares for pictures of another shape.
func (w *Watch) resize(aspect float64) {
	w.gap()
	w.aspect, w.lines, w.areas = aspect, nil, nil
	place := func(list [][2]float64) (out []point) {
		for _, p := range list {
			out = append(out, point{p[0] * aspect, p[1]})
		}
		return out
	}
	for _, l := range w.config.Lines {
		w.lines = append(w.lines, line{l, place(l.Points)})
		w.lines[len(w.lines)-1].reach(aspect)
	}
	for _, a := range w.config.Areas {
		outline := place(a.Outline)
		w.areas = append(w.areas, area{Area: a, outline: append(outline, outline[0])})
	}
}

// Step takes what the detector found in a picture (motion.Detector.Things), and returns what came
// of it; the slice is valid until the next call of a method. Nothing of p and things is kept. A
// picture that is not later than the one before is left out; after one that is much earlier or some
// seconds later everything begins anew.
func (w *Watch) Step(p motion.Picture, things []motion.Thing) []Change {
	w.changes = w.changes[:0]
	if p.Width <= 0 || p.Height <= 0 {
		return nil
	}
	dt := p.Time.Sub(w.wall)
	if dt <= 0 && dt > -longPause {
		return nil
	}
	if aspect := float64(p.Width) / float64(p.Height); aspect != w.aspect {
		w.resize(aspect)
	}
	if dt < 0 || dt > longPause {
		w.gap()
		dt = 100 * time.Millisecond
	}
	w.wall = p.Time
	w.at += dt
	w.seen = w.seen[:0]
	for _, t := range things {
		b := t.Box
		w.seen = append(w.seen, seen{rect{b.Left * w.aspect, b.Top, b.Right * w.aspect, b.Bottom}, t.Track, none})
	}
	w.follow(w.seen, w.at, dt)
	kept := w.paths[:0]
	for i := range w.paths {
		k := &w.paths[i]
		if k.gone(w.at) {
			w.leave(k)
			continue
		}
		if k.seenAt == w.at {
			w.judge(k)
		}
		kept = append(kept, *k)
	}
	w.paths = kept
	for i := range w.areas {
		w.hold(i)
	}
	if len(w.paths) == 0 && len(w.called) > maxCalled {
		clear(w.called)
	}
	return w.changes
}

// leave lets a thing that was last seen on its way out cross what is between that place and the
// border of the picture.
func (w *Watch) leave(k *path) {
	if k.whole <= knownAfter || !w.beside(k.last) {
		return
	}
	out := w.outside(k.last)
	if (out.x-k.was.x)*(k.was.x-k.trail.x) <= 0 {
		return
	}
	k.foot = point{out.x, k.was.y}
	k.wasAt -= (k.wasAt - k.besideAt) / 2 // that is how exactly it is known
	w.cross(k, k.wasAt)
}

// judge holds a path against all lines and areas.
func (w *Watch) judge(k *path) {
	w.cross(k, w.at)
	k.was, k.wasAt = k.foot, w.at
	for i := range w.areas {
		w.areas[i].step(&k.areas[i], k, w.aspect, w.at)
	}
	k.rest()
}

// cross holds a path against all lines.
func (w *Watch) cross(k *path, at time.Duration) {
	for i := range w.lines {
		l, s := &w.lines[i], &k.lines[i]
		if !l.step(s, k, at) {
			continue
		}
		if l.Direction == "" || l.Direction == Any || l.Direction == s.way {
			w.changes = append(w.changes, Change{Kind: Crossed, Rule: l.ID, Direction: s.way, Way: l.way(s),
				Object: k.object,
				Part:   [2][2]float64{l.Points[s.part], l.Points[s.part+1]},
				Start:  w.time(s.at), Last: w.time(s.at), Box: k.box.inPicture(w.aspect), BestTime: w.wall})
		}
		s.way = ""
	}
}

// time is the wall's time of a moment.
func (w *Watch) time(at time.Duration) time.Time { return w.wall.Add(at - w.at) }

// call gives a path its object once the detector has a track of it.
func (w *Watch) call(k *path, track int) {
	if track == 0 || k.object != "" {
		return
	}
	n := w.called[track] + 1
	w.called[track] = n
	if k.object = strconv.Itoa(track); n > 1 {
		k.object += "." + strconv.Itoa(n)
	}
}
