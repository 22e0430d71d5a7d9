package motion_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
)

// scene draws pictures with known truth. All measures are in fractions of the picture, so that one
// scene fits all sizes.
type scene struct {
	width, height int
	floor         []float64 // the empty scene, in grey levels
	picture       []float64
	luma          []byte
	grain         []float64
	random        *rand.Rand
	noise         float64 // standard deviation, grey levels
}

// newScene is a room with a wall, a textured floor, a window and some furniture.
func newScene(width, height int, seed uint64, noise float64) *scene {
	s := &scene{width: width, height: height, noise: noise, random: rand.New(rand.NewPCG(seed, 77)),
		floor: make([]float64, width*height), picture: make([]float64, width*height), luma: make([]byte, width*height)}
	for range 1 << 16 {
		s.grain = append(s.grain, s.random.NormFloat64())
	}
	for y := range height {
		for x := range width {
			u, v := float64(x)/float64(width), float64(y)/float64(height)
			g := 130 + 30*u
			if v > 0.55 { // boards
				g = 95 + 18*math.Sin(60*(u-0.5)/(0.3+v)) + 6*math.Sin(200*v)
			}
			if u > 0.05 && u < 0.25 && v > 0.1 && v < 0.4 { // window
				g = 205
				if math.Abs(u-0.15) < 0.006 {
					g = 70
				}
			}
			if u > 0.7 && u < 0.85 && v > 0.35 && v < 0.7 { // cupboard
				g = 75 + 10*math.Floor(8*v)
			}
			s.floor[y*width+x] = g
		}
	}
	s.empty()
	return s
}

// empty takes everything out of the scene.
func (s *scene) empty() { copy(s.picture, s.floor) }

// thing draws a box with some pattern at its place; the edges are as soft as the pixels are large.
func (s *scene) thing(left, top, width, height, level, pattern float64) {
	w, h := float64(s.width), float64(s.height)
	l, t, r, b := left*w, top*h, (left+width)*w, (top+height)*h
	for y := max(0, int(t)); y < min(s.height, int(b)+1); y++ {
		cy := min(b, float64(y+1)) - max(t, float64(y))
		for x := max(0, int(l)); x < min(s.width, int(r)+1); x++ {
			c := cy * (min(r, float64(x+1)) - max(l, float64(x)))
			if c <= 0 {
				continue
			}
			v := level + pattern*math.Sin(5*math.Pi*(float64(y)-t)/(b-t))*math.Cos(3*math.Pi*(float64(x)-l)/(r-l))
			i := y*s.width + x
			s.picture[i] += c * (v - s.picture[i])
		}
	}
}

// light scales the brightness of everything, with a gamma, as cameras do.
func (s *scene) light(gain, gamma float64) {
	for i, v := range s.picture {
		s.picture[i] = 255 * math.Pow(max(0, v*gain/255), gamma)
	}
}

// take is the picture as the camera sends it: with noise, clipped, rounded.
func (s *scene) take(at time.Time) motion.Picture {
	k := s.random.IntN(len(s.grain))
	for i, v := range s.picture {
		if k++; k == len(s.grain) {
			k = s.random.IntN(len(s.grain) / 2)
		}
		s.luma[i] = byte(max(0, min(255, v+s.noise*s.grain[k]+0.5)))
	}
	return motion.Picture{Luma: s.luma, Width: s.width, Height: s.height, Stride: s.width, Time: at}
}

// seen is what a detector found in a scene.
type seen struct {
	began, ended []motion.Change
	candidates   int
	globals      int
	firstBegan   time.Time // time of the picture that confirmed the first span
}

// watch runs a scene for d at a rate; draw draws the picture of a time into an empty scene.
func watch(t testing.TB, c motion.Config, s *scene, rate float64, d time.Duration, draw func(at float64)) seen {
	detector, err := motion.New(c)
	require.NoError(t, err)
	var out seen
	take := func(changes []motion.Change, at time.Time) {
		for _, ch := range changes {
			boxes := append([]motion.Box(nil), ch.Boxes...)
			ch.Boxes = boxes
			if ch.Kind == motion.Began {
				out.began = append(out.began, ch)
				if out.firstBegan.IsZero() {
					out.firstBegan = at
				}
			} else {
				out.ended = append(out.ended, ch)
			}
		}
	}
	for i := 0; float64(i)/rate < d.Seconds(); i++ {
		at := float64(i) / rate
		s.empty()
		draw(at)
		wall := epoch.Add(time.Duration(at * float64(time.Second)))
		r := detector.Step(s.take(wall))
		take(r.Changes, wall)
		if r.Candidate {
			out.candidates++
		}
		if r.Activity.Global {
			out.globals++
		}
	}
	take(detector.Gap(), epoch.Add(d))
	return out
}

// epoch is the time of picture 0 of all test scenes.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// offset is a time in seconds since the scene began.
func offset(t time.Time) float64 { return t.Sub(epoch).Seconds() }
