package rule

import (
	"cmp"
	"math"
	"slices"
	"time"
)

const (
	maxPaths = 64
	// how far a thing may be from where it is expected, as a share of its size, and beside that
	nearBy, nearAnyway = 0.7, 0.03
	// the same before its speed is known: a car close by goes its own length from one to the next
	newBy, newAnyway = 1.5, 0.04
	alike            = 8    // times as large as usual, at most, that a thing is in a picture
	sizeCosts        = 0.12 // of what is near, for each e-fold that the size differs
	// of an area within where a thing is expected, from which it is a part of it, and of that
	// thing's area, that a part has at most
	partOf, partSize = 0.5, 0.7
	// of a thing's area, and of its size away from it, that something new has at most to be a crumb
	// of it and nothing by itself
	crumb, crumbNear = 0.15, 0.4
	behind           = 0.4 // of a thing within what another is seen as, from which it is hidden there
)

// seen is a thing in one picture.
type seen struct {
	box   rect
	track int
	path  int // index of its path, or one of those below
}

const (
	none  = -1
	aside = -2 // it is not looked at
)

// pair is a path and what may be it in the newest picture.
type pair struct {
	path, seen int
	cost       float64
}

// follow takes the things of one picture into the paths, and begins others.
func (w *Watch) follow(things []seen, at, dt time.Duration) {
	s := dt.Seconds()
	for i := range w.paths {
		w.paths[i].expect(s)
	}
	w.match(things)
	w.taken = append(w.taken[:0], make([]int, len(w.paths))...) // 1 + index of what was seen of it
	taken := w.taken
	for j := range things {
		if i := things[j].path; i >= 0 {
			taken[i] = j + 1
		}
	}
	for j := range things { // parts of what is seen already
		t := &things[j]
		if t.path >= 0 {
			continue
		}
		for i, of := range taken {
			k := &w.paths[i]
			if of == 0 || t.box.area() > partSize*k.box.area() {
				continue
			}
			near := t.box.meet(k.box.grown(crumbNear*k.box.size())).area() > 0
			if near && t.box.area() < crumb*things[of-1].box.area() {
				t.path = aside
				break
			}
			if t.box.meet(k.box.grown(0.1*k.box.size()+least)).area() >= partOf*t.box.area() {
				t.path = i
				break
			}
		}
	}
	for i := range w.paths {
		k := &w.paths[i]
		if taken[i] > 0 {
			b, track := things[taken[i]-1].box, 0
			for j := range things {
				if things[j].path == i {
					b, track = b.union(things[j].box), max(track, things[j].track)
				}
			}
			k.see(b, w.cuts(b), w.beside(b), at, s)
			w.call(k, track)
			continue
		}
		for j := range things {
			t := &things[j]
			if t.path >= 0 && t.path != i && taken[t.path] == j+1 && k.pictures > knownAfter &&
				k.box.meet(t.box).area() >= behind*k.box.area() {
				k.hide(t.box, at, dt)
				break
			}
		}
	}
	for j := range things {
		if t := &things[j]; t.path == none && len(w.paths) < maxPaths {
			k := path{lines: make([]atLine, len(w.lines)), areas: make([]atArea, len(w.areas))}
			k.see(t.box, w.cuts(t.box), w.beside(t.box), at, s)
			if w.cuts(t.box) {
				k.was = w.outside(t.box)
				for n := range w.lines {
					_, side := apart(w.lines[n].points, k.was)
					k.lines[n].came = 1 + side
				}
			}
			w.call(&k, t.track)
			w.paths = append(w.paths, k)
		}
	}
}

// match finds for each path what it is in the newest picture, the likeliest pairs first.
func (w *Watch) match(things []seen) {
	w.pairs = w.pairs[:0]
	for i := range w.paths {
		for j := range things {
			if w.paths[i].leaves && things[j].track == 0 {
				continue // what is left of the light where it was
			}
			if c := w.paths[i].costs(things[j].box); c < 1 {
				w.pairs = append(w.pairs, pair{i, j, c})
			}
		}
	}
	slices.SortFunc(w.pairs, func(a, b pair) int { return cmp.Compare(a.cost, b.cost) })
	w.used = append(w.used[:0], make([]bool, len(w.paths))...)
	for _, p := range w.pairs {
		if t := &things[p.seen]; t.path == none && !w.used[p.path] {
			t.path, w.used[p.path] = p.path, true
		}
	}
}

// costs says how unlike the thing b is: from 0, the same, to 1 and more, another.
func (k *path) costs(b rect) float64 {
	size := max(k.box.size(), b.size())
	reach := nearAnyway + nearBy*size
	if k.pictures < knownAfter {
		reach = newAnyway + newBy*size
	}
	ratio := b.area() / max(k.typical, 1e-9)
	if ratio > alike || ratio*alike < 1 {
		return 1
	}
	away := min(k.box.middle().apart(b.middle()), k.box.foot().apart(b.foot()))
	return away/reach + sizeCosts*math.Abs(math.Log(ratio))
}

// cuts tells whether the border of the picture cuts a thing.
func (w *Watch) cuts(b rect) bool {
	return w.beside(b) || b.top < least || b.bottom > 1-least
}

// beside tells whether the left or the right border of the picture cuts a thing.
func (w *Watch) beside(b rect) bool { return b.left < least || b.right > w.aspect-least }

// outside is where the foot of a thing that the border of the picture cuts was before it came in.
func (w *Watch) outside(b rect) point {
	p := b.foot()
	switch {
	case b.left < least:
		p.x = -b.wide()
	case b.right > w.aspect-least:
		p.x = w.aspect + b.wide()
	}
	switch {
	case b.top < least:
		p.y = -least
	case b.bottom > 1-least:
		p.y = 1 + b.high()
	}
	return p
}
