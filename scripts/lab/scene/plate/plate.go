// Package plate paints the empty places in which scenes happen: rooms and yards with textures,
// furniture, lamps and shadows.
//
// A Plate is what a place reflects, apart from the light that falls on it, so that a scene can
// switch, dim and move the light: the camera sees the sum over the lights of what a pixel reflects
// times what falls on it. It stands before figure, which draws those who move in it, and lens,
// which makes a camera's picture of it all:
//
//	p, err := plate.New("yard", plate.Options{Width: 320, Height: 180, Seed: 7})
//	radiance := float64(p.Reflects[i]) * float64(p.Lights[plate.Sky][i]) / plate.Unit
//
// All measures are fractions of the picture, so that one seed gives the same place in all sizes.
package plate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Unit is a light of 1 in Plate.Lights; White is what white paint reflects in Plate.Reflects.
const (
	Unit  = 16384
	White = 40000
)

// The lights of a place.
const (
	Sky      = iota // what comes from everywhere: the sky, windows
	Lamp            // what comes from one side and throws shadows: the sun, or lamps on the ceiling
	Infrared        // the camera's own lamp, seen by what things reflect in infrared
	lights
)

// Options say how to paint. All are required but Seed and Tree.
type Options struct {
	Width, Height int
	Seed          uint64
	Tree          bool // one stands in the view, apart from the rest, so that it can sway
}

// Plate is a painted place. It may be read by several goroutines.
type Plate struct {
	Width, Height int
	// Reflects is linear, White is white; InReflects the same in infrared.
	Reflects, InReflects []uint16
	// Lights hold for each light how much falls on a pixel; Unit is 1.
	Lights [lights][]uint16
	// Depth is for each pixel of a thing in the foreground where its foot stands, see Stands; 0 for
	// what hides nobody.
	Depth []uint8
	// U and V are the colours, one for four pixels.
	U, V []byte
	// Horizon is the height of the camera's own level, Tall the height of a person per distance of
	// the feet from there.
	Horizon, Tall float64
	// Outdoors tells a place under the sky.
	Outdoors bool
	// Door is where people may come out: its left and right edge and the height of its sill; all 0
	// without one.
	Door [3]float64
	// Tree is nil without one.
	Tree *Layer
	// Screen is a television or a shop window: left, top, right, bottom. Water lies from here to
	// there. All 0 without.
	Screen, Water [4]float64
}

// Layer is a thing before the plate that can be moved: what it reflects and how opaque it is. It
// covers the whole picture.
type Layer struct {
	Reflects, InReflects     []uint16
	Alpha                    []uint8
	Left, Top, Right, Bottom int // pixels; nothing is opaque outside
}

// Kinds are the places that can be painted.
func Kinds() []string {
	return []string{"office", "corridor", "warehouse", "yard", "street", "parking"}
}

// Outdoors tells whether a kind is under the sky.
func Outdoors(kind string) bool { return kind == "yard" || kind == "street" || kind == "parking" }

// Stands is the Depth of a thing whose foot is at y, in fractions of the picture's height from the
// top.
func Stands(y float64) uint8 { return uint8(max(1, min(255, y*160))) }

// maxPainted is the width above which a place is painted smaller and enlarged: its textures have no
// finer detail.
const maxPainted = 1280

// New paints a place.
func New(kind string, o Options) (*Plate, error) {
	if !slices.Contains(Kinds(), kind) {
		return nil, fmt.Errorf("paint %q: there is no such place; there are %s", kind, strings.Join(Kinds(), ", "))
	}
	times := 1
	w, h := o.Width, o.Height
	if w <= 400 {
		times = 2
	}
	if w > maxPainted {
		w, h = maxPainted, max(1, o.Height*maxPainted/o.Width)
	}
	c := newCanvas(w*times, h*times, rand.New(rand.NewPCG(o.Seed, 0x91a7e)))
	p := &Plate{Width: o.Width, Height: o.Height, Outdoors: Outdoors(kind)}
	map[string]func(*canvas, *Plate){
		"office": office, "corridor": corridor, "warehouse": warehouse, "yard": yard, "street": street,
		"parking": parking,
	}[kind](c, p)
	soft := 0.15 + 0.6*c.r.Float64() // of the lens
	p.Reflects, p.InReflects = c.linear(c.day, p, soft), c.linear(c.infra, p, soft)
	for k := range p.Lights {
		p.Lights[k] = c.light(c.lit[k], p)
	}
	p.Depth = make([]uint8, o.Width*o.Height)
	for y := range o.Height {
		for x := range o.Width {
			p.Depth[y*o.Width+x] = c.depth[(y*c.h/o.Height)*c.w+x*c.w/o.Width]
		}
	}
	p.U, p.V = c.colour(p)
	if o.Tree {
		p.Tree = tree(c, p, o.Seed)
	}
	return p, nil
}

// linear makes of grey levels what reflects, in the plate's size, with the softness of a lens.
func (c *canvas) linear(grey []float32, p *Plate, soft float64) []uint16 {
	small := resize(grey, c.w, c.h, p.Width, p.Height)
	soften(small, p.Width, p.Height, float32(soft))
	out := make([]uint16, len(small))
	for i, g := range small {
		out[i] = Linear(float64(g))
	}
	return out
}

// light makes a light plane in the plate's size.
func (c *canvas) light(l []float32, p *Plate) []uint16 {
	small := resize(l, c.w, c.h, p.Width, p.Height)
	out := make([]uint16, len(small))
	for i, v := range small {
		out[i] = uint16(max(0, min(65535, v*Unit)))
	}
	return out
}

// Linear is how much a thing of a grey level reflects; White is at level 235.
func Linear(grey float64) uint16 {
	return uint16(min(65535, White*math.Pow(max(0, grey)/235, 2.2)))
}

// colour makes the chroma planes.
func (c *canvas) colour(p *Plate) (u, v []byte) {
	w, h := p.Width/2, p.Height/2
	u, v = make([]byte, w*h), make([]byte, w*h)
	for y := range h {
		for x := range w {
			i := (y*c.h/h)*c.w + x*c.w/w
			u[y*w+x], v[y*w+x] = c.u[i], c.v[i]
		}
	}
	return u, v
}
