// Package scene draws what camsim's cameras see: rooms in which things move and rest at known times.
//
// A scene is a loop of pictures. Its times and shapes are fractions of the loop and of the picture, so that the same scene
// drawn in two sizes, or at two rates, shows the same thing at the same moment: camsim's main stream and substream do. The
// same seed draws the same pixels. The truth, which pictures hold motion, is known exactly and can be compared with what a
// detector finds.
//
//	s, err := scene.New("person", scene.Options{Width: 640, Height: 360, Rate: 10, Seed: 1})
//	for i := range s.Len() {
//		s.Draw(i, &pic)           // planar YUV 4:2:0
//		truth[i] = s.Moving(i)
//	}
//
// It knows nothing of codecs or networks; cmd/camsim/movie encodes what it draws.
package scene

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Options say how a scene is drawn. All but Seed are required.
type Options struct {
	Width, Height int // pixels, even, at least 64x48
	Rate          int // pictures per second
	Seed          uint64
}

// Picture is planar YUV 4:2:0 in limited range (luma 16..235). Draw makes the planes if they do not fit.
type Picture struct {
	Y, U, V []byte
}

// Span is a time in the loop during which something moves; Start is the time of the first picture that shows it, End that of the
// first one that does not any more.
type Span struct{ Start, End time.Duration }

// Scene is one loop of pictures. Draw is not safe for concurrent use.
type Scene struct {
	o      Options
	loop   time.Duration
	light  func(t float64) float64 // brightness at a time in seconds
	actors []actor
	still  Picture // the background
	noise  []int8
}

// actor is a figure that crosses the picture from one horizontal place to another.
type actor struct {
	from, to float64 // seconds; visible exactly in between
	path     func(p float64) float64
	depth    float64 // height of the figure as a fraction of the picture
	coat     [3]byte // luma and the two chroma
	trousers [3]byte
}

// Names are the scenes there are.
func Names() []string { return []string{"person", "quiet", "light-switch"} }

// New makes a scene.
func New(name string, o Options) (*Scene, error) {
	switch {
	case !slices.Contains(Names(), name):
		return nil, fmt.Errorf("draw scene %q: there is no such scene; there are %s", name, strings.Join(Names(), ", "))
	case o.Width < 64 || o.Height < 48 || o.Width%2 != 0 || o.Height%2 != 0 || o.Width*o.Height > 40_000_000:
		return nil, fmt.Errorf("draw scene in %dx%d: width and height must be even, at least 64x48, and not above 40 megapixels", o.Width, o.Height)
	case o.Rate < 1 || o.Rate > 120:
		return nil, fmt.Errorf("draw scene at %d pictures per second: it must be 1 to 120", o.Rate)
	}
	s := &Scene{o: o, loop: 30 * time.Second, light: func(float64) float64 { return 1 }}
	switch name {
	case "person":
		s.actors = []actor{
			// One walks through from the left to the right.
			{from: 4, to: 12, path: func(p float64) float64 { return p }, depth: 0.55, coat: [3]byte{52, 140, 110}, trousers: [3]byte{40, 128, 128}},
			// Another, further away, walks in from the left, turns round in the middle and leaves again.
			{from: 18, to: 26, path: func(p float64) float64 { return 0.58 * (1 - abs(2*p-1)) }, depth: 0.42, coat: [3]byte{90, 118, 150}, trousers: [3]byte{48, 132, 124}},
		}
	case "light-switch":
		s.light = func(t float64) float64 {
			if t >= 10 && t < 20 {
				return 0.4
			}
			return 1
		}
	}
	s.noise = makeNoise(rand.New(rand.NewPCG(o.Seed, 1)))
	s.still = makeRoom(o)
	return s, nil
}

// Len is the number of pictures of the loop.
func (s *Scene) Len() int { return int(s.loop.Seconds()) * s.o.Rate }

// Loop is how long the loop lasts.
func (s *Scene) Loop() time.Duration { return s.loop }

// Size is that of the pictures in pixels.
func (s *Scene) Size() (width, height int) { return s.o.Width, s.o.Height }

// Rate is the number of pictures per second.
func (s *Scene) Rate() int { return s.o.Rate }

func (s *Scene) seconds(i int) float64 { return float64(i%s.Len()) / float64(s.o.Rate) }

// Moving says whether something moves in picture i.
func (s *Scene) Moving(i int) bool {
	t := s.seconds(i)
	for _, a := range s.actors {
		if t >= a.from && t < a.to {
			return true
		}
	}
	return false
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

func abs(v float64) float64 {
	if v < 0 {
		return -v
	}
	return v
}
