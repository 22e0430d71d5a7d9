// Package scene draws what camsim's cameras see: places in which things move and rest at known
// times, in all the light and weather that cameras meet.
//
// A scene is a loop of pictures. Its times and shapes are fractions of the loop and of the picture,
// so that the same scene drawn in two sizes, or at two rates, shows the same thing at the same
// moment: camsim's main stream and substream do. The same seed draws the same pixels. The truth,
// which pictures hold motion, is known exactly and can be compared with what a detector finds.
//
//	s, err := scene.New("rain+walker", scene.Options{Width: 640, Height: 360, Rate: 10, Seed: 1})
//	for i := range s.Len() {
//		s.Draw(i, &pic)           // planar YUV 4:2:0
//		truth[i] = s.Moving(i)
//	}
//
// A name joins parts with "+": places (yard), nuisances (rain), those who move (walker) and those
// who tamper (covered). What reaches the camera is the sum of the lights (package plate), those who
// move (package figure) and what lies before the lens; package lens makes the picture of it.
// Nothing here knows of codecs or networks; package movie encodes what is drawn.
package scene

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"vmsbridge/scripts/lab/scene/figure"
	"vmsbridge/scripts/lab/scene/lens"
	"vmsbridge/scripts/lab/scene/plate"
)

// Options say how a scene is drawn. All but Seed and Length are required.
type Options struct {
	Width, Height int // pixels, even, at least 64x48
	Rate          int // pictures per second
	Seed          uint64
	Length        time.Duration // of the loop, whole seconds; 0 is the scene's own
}

// Picture is planar YUV 4:2:0 in limited range (luma 16..235). Draw makes the planes if they do not
// fit.
type Picture struct {
	Y, U, V []byte
}

// Scene is one loop of pictures. It is not safe for concurrent use. Pictures depend on those
// before, as noise reduction and codecs do: drawn out of order, a picture is like that of a camera
// that was just switched on.
type Scene struct {
	name string
	o    Options
	loop time.Duration
	r    *rand.Rand

	place   *plate.Plate
	lit     [3][]uint16 // what each light of the place leaves, at a weight of 1
	mean    [3]float64  // of those
	coarse  [3]grid     // how much of each light falls where
	base    []uint16    // the empty place in the light of baseOf
	baseOf  [3]float64
	baseOK  bool
	pix     []uint16
	shifted []uint16
	bent    []uint16 // as hot air shows it
	second  []uint16 // of another view
	fills   []uint16 // how much of each pixel those who move hide: see Truth
	stood   []uint16 // the same of those who have stood there since the loop began

	camera   lens.Options
	lens     *lens.Camera
	weights  [3]float64 // of the lights, before anything happens
	exposure exposure
	target   figure.Target
	frame    frame
	next     int // the picture that follows the last one drawn

	light  []func(t float64, f *frame) // what changes the light
	scenic []func(t float64, f *frame) // what moves behind those who move
	actors []*actor
	before []func(t float64, f *frame)               // what is between the place and the camera
	after  []func(number int, t float64, dst []byte) // what is done to the luma
	tamper []Tamper
	frozen [][2]float64
	still  []byte // the frozen picture
}

// frame is the state of one picture while it is drawn.
type frame struct {
	number  int
	weights [3]float64
	clouds  *grid // factor of the lamp's light; nil is 1
	beams   []beam
	ir      bool
	gain    float64
	noise   float64
	rows    []float64
	dx, dy  float64 // by which the camera looks elsewhere, in widths
	blur    float64 // radius in widths
	waver   *waver  // what hot air does; nil is nothing
}

// New makes a scene.
func New(name string, o Options) (*Scene, error) {
	names := strings.Split(name, "+")
	for _, n := range names {
		if !slices.Contains(Names(), n) {
			return nil, fmt.Errorf("draw scene %q: there is no such scene as %q; there are %s, and any of them "+
				"joined with +", name, n, strings.Join(Names(), ", "))
		}
	}
	switch {
	case o.Width < 64 || o.Height < 48 || o.Width%2 != 0 || o.Height%2 != 0 || o.Width*o.Height > 40_000_000:
		return nil, fmt.Errorf("draw scene in %dx%d: width and height must be even, at least 64x48, and not above 40 "+
			"megapixels", o.Width, o.Height)
	case o.Rate < 1 || o.Rate > 120:
		return nil, fmt.Errorf("draw scene at %d pictures per second: it must be 1 to 120", o.Rate)
	case o.Length != 0 && (o.Length < 10*time.Second || o.Length > 24*time.Hour || o.Length%time.Second != 0):
		return nil, fmt.Errorf("draw scene of %v: the loop must be whole seconds, at least 10 s and at most 24 h",
			o.Length)
	}
	s := &Scene{name: name, o: o, loop: o.Length, r: rand.New(rand.NewPCG(o.Seed, 0x5ce4e))}
	if s.loop == 0 {
		s.loop = 30 * time.Second
	}
	if err := s.settle(names); err != nil {
		return nil, err
	}
	for _, n := range names {
		if p := partOf(n); p.add != nil {
			p.add(s)
		}
	}
	s.camera.Width, s.camera.Height, s.camera.Seed = o.Width, o.Height, o.Seed
	s.lens = lens.New(s.camera)
	s.exposure.settle(s)
	s.observe()
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

// between draws a number.
func (s *Scene) between(a, b float64) float64 { return a + (b-a)*s.r.Float64() }
