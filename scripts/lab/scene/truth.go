package scene

import (
	"math"
	"time"

	"vmsbridge/scripts/lab/scene/figure"
)

// Span is a time in the loop during which something moves; Start is the time of the first picture
// that shows it, End that of the first one that does not any more.
type Span struct{ Start, End time.Duration }

// Box is a rectangle in fractions 0..1 of the picture.
type Box struct{ Left, Top, Right, Bottom float64 }

// Tamper is when someone tampers with the camera: From is when it begins to show, Start when the
// picture is spoilt, End when it is whole again.
type Tamper struct {
	Reason           string // covered, blinded, defocused, turned or frozen
	From, Start, End time.Duration
}

// actor is someone or something that moves.
type actor struct {
	from, to float64 // seconds; drawn in between
	draw     func(t float64, target *figure.Target)
	moves    func(t float64) bool // nil is always
	all      bool                 // counts whenever it is drawn, however little of it is to be seen

	look *figure.Look // what a person wears, who is dressed again if nobody could see it; nil for others
	way  *way

	first int // picture number of seen[0]
	seen  []sight
}

// sight is what can be seen of an actor in one picture.
type sight struct {
	share float64
	box   Box
	moves bool
}

const (
	sightWide, sightHigh = 320, 180 // of the planes on which the truth is measured, whatever the size of the pictures
	// share of the picture that anyone notices, or a tenth of the whole thing if that is less
	clearly = 0.002
	hidden  = 1.5 // seconds for which something may be behind something else and counts as seen
)

// observe works out what can be seen when.
func (s *Scene) observe() {
	cover, depth := make([]uint8, sightWide*sightHigh), make([]uint8, sightWide*sightHigh)
	for i := range depth {
		x, y := i%sightWide*s.o.Width/sightWide, i/sightWide*s.o.Height/sightHigh
		depth[i] = s.place.Depth[y*s.o.Width+x]
	}
	target := figure.Target{Width: sightWide, Height: sightHigh, Cover: cover, Depth: depth}
	for _, a := range s.actors {
		s.dress(a)
		rate := float64(s.o.Rate)
		a.first = max(0, int(a.from*rate))
		most := 0.0
		for n := a.first; n < s.Len() && float64(n)/rate < a.to; n++ {
			t := float64(n) / rate
			clear(cover)
			var v sight
			if t >= a.from {
				a.draw(t, &target)
				v = measure(cover)
				v.moves = a.moves == nil || a.moves(t)
			}
			a.seen = append(a.seen, v)
			most = max(most, v.share)
		}
		last := -1
		for k := range a.seen {
			if !a.all && (a.seen[k].share < min(clearly, most/10) || a.seen[k].share == 0) {
				a.seen[k].moves = false
				continue
			}
			// Behind a pole it moves on.
			if last >= 0 && k-last > 1 && float64(k-last) <= hidden*rate && a.seen[last].moves && a.seen[k].moves {
				for j := last + 1; j < k; j++ {
					a.seen[j].moves = true
				}
			}
			last = k
		}
	}
}

func measure(cover []uint8) sight {
	n := 0
	l, t, r, b := sightWide, sightHigh, 0, 0
	for i, c := range cover {
		if c != 0 {
			n++
			x, y := i%sightWide, i/sightWide
			l, t, r, b = min(l, x), min(t, y), max(r, x+1), max(b, y+1)
		}
	}
	if n == 0 {
		return sight{}
	}
	return sight{share: float64(n) / float64(len(cover)),
		box: Box{float64(l) / sightWide, float64(t) / sightHigh, float64(r) / sightWide, float64(b) / sightHigh}}
}

// at is what can be seen in picture i.
func (a *actor) at(i int) sight {
	if k := i - a.first; k >= 0 && k < len(a.seen) {
		return a.seen[k]
	}
	return sight{}
}

// Moving says whether something moves in picture i.
func (s *Scene) Moving(i int) bool {
	for _, a := range s.actors {
		if a.at(i % s.Len()).moves {
			return true
		}
	}
	return false
}

// Present says whether someone can be seen in picture i, who may stand still.
func (s *Scene) Present(i int) bool {
	for _, a := range s.actors {
		if a.at(i%s.Len()).share > 0 {
			return true
		}
	}
	return false
}

// Boxes are what moves in picture i: the box around what can be seen of each.
func (s *Scene) Boxes(i int) []Box {
	var boxes []Box
	for _, a := range s.actors {
		if v := a.at(i % s.Len()); v.moves && v.share > 0 {
			boxes = append(boxes, v.box)
		}
	}
	return boxes
}

// Share is the largest part of the picture that something which moves covers within the loop.
func (s *Scene) Share() float64 {
	most := 0.0
	for _, a := range s.actors {
		for _, v := range a.seen {
			most = max(most, v.share)
		}
	}
	return most
}

// Spans are the truth: when something moves, within one loop, in order.
func (s *Scene) Spans() []Span {
	var spans []Span
	at := func(i int) time.Duration { return time.Duration(i) * time.Second / time.Duration(s.o.Rate) }
	for i := range s.Len() {
		switch {
		case !s.Moving(i):
		case i > 0 && s.Moving(i-1):
			spans[len(spans)-1].End = at(i + 1)
		default:
			spans = append(spans, Span{at(i), at(i + 1)})
		}
	}
	return spans
}

// Tampering is the truth of the scenes in which someone tampers.
func (s *Scene) Tampering() []Tamper { return s.tamper }

// Mask draws the silhouettes of those who move in picture i: 255 where one is, 0 elsewhere. dst is
// a whole plane in the scene's size.
func (s *Scene) Mask(i int, dst []byte) {
	clear(dst)
	target := figure.Target{Width: s.o.Width, Height: s.o.Height, Cover: dst, Depth: s.place.Depth}
	t := s.seconds(i)
	for _, a := range s.actors {
		if a.at(i % s.Len()).moves {
			a.draw(t, &target)
		}
	}
}

func wave(t, period, phase float64) float64 { return math.Sin(2 * math.Pi * (t/period + phase)) }
