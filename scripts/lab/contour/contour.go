// Package contour draws the exact outline of what moves, pixel by pixel in the size of the camera's
// picture. It follows the detector (package motion), which works on cells of several pixels and
// says what is a thing and what is only light, weather or a tree; it decides nothing, and only
// masks for people and for measuring are made of it:
//
//	d.Step(picture)
//	d.ActivityMask(seeds, width, height)
//	dx, dy := d.Shake()
//	c.Trace(contour.Picture{Luma: luma, Width: width, Height: height, Stride: width, Time: t,
//		ShiftX: dx * width, ShiftY: dy * height}, seeds, mask)
//
// It has a background of its own, which learns only where nothing is marked: so what stops stays
// marked for minutes, long after the detector has taken it for background. Around what the detector
// marks, each pixel is marked that differs from that background; what stays behind when a thing
// leaves is found by its edges and forgotten (settle.go), even while it is one area with the thing
// (behind.go), and so is what is only darker or brighter than before. What is forgotten by mistake
// comes back (former.go).
package contour

import (
	"math"
	"time"
)

// Picture is what is needed of a picture.
type Picture struct {
	// Luma holds full-range luma, 0..255, row after row. It is only read, and not kept.
	Luma []byte
	// Width and Height are in pixels, Stride is the distance of two rows in bytes.
	Width, Height, Stride int
	Time                  time.Time
	// ShiftX and ShiftY say by how many pixels the camera, which shakes, looks elsewhere: what is
	// at x in the background is at x+ShiftX here.
	ShiftX, ShiftY float64
}

// Contour follows one camera. Not safe for concurrent use; it allocates only when the size changes.
type Contour struct {
	width, height int
	time          time.Time
	pictures      int // since it began

	back    []uint16 // the background, 1/256 grey levels
	dev     []uint16 // what the smoothed difference from it is on the mean where nothing is marked, 1/256
	marks   []byte   // 1 where the newest mask is marked
	held    []uint16 // for how many 1/10 s a marked pixel has been no seed
	lately  []byte   // for how many 1/10 s more a pixel counts as one that was marked: noise takes one now and then
	shifted []uint16 // the background as the newest picture sees it
	raw     []int16  // the difference from the background, 1/16
	smooth  []int16  // its mean over 3x3 pixels
	prior   []byte   // how close a pixel is to what the detector marks
	cand    []byte   // 1 where a pixel may be marked
	rows    []int16
	lines   []byte
	queue   []int32
	trail   []int32 // of follow
	// for how many pictures a marked pixel has seemed to be left behind, and some more; or
	// seemsProven
	seems []byte
	// what was background before, where that was replaced at once, 1/256 grey levels and never 0; 0
	// elsewhere
	former    []uint16
	sigma     float64 // what unmarked pixels differ from the background by, grey levels
	rect              // the part of the picture in which anything may be marked
	runs      []run
	totals    []int32
	counts    []int32
	columns   []sums
	shade     []byte        // 1 where the newest picture may only be darker, or brighter, than the background
	before    []byte        // the picture before
	blindTill time.Time     // nothing new is marked: the light of the scene changed
	rest      time.Duration // of held, that is less than its unit
}

// New returns a Contour that has seen nothing.
func New() *Contour { return &Contour{} }

// longest is the pause after which what was known is of no use.
const longest = 10 * time.Minute

// Trace writes the outlines of what the detector marks in seeds into mask: 255 for what moves, or
// has moved and stands there, 0 elsewhere. Both have the picture's size, row after row. It must be
// called for each picture, in the order of their times.
func (c *Contour) Trace(p Picture, seeds, mask []byte) {
	n := p.Width * p.Height
	dt := p.Time.Sub(c.time)
	if p.Width != c.width || p.Height != c.height || dt < -time.Second || dt > longest {
		c.begin(p)
		dt = 0
	}
	dt = max(0, dt)
	c.time = p.Time
	c.pictures++
	mask, seeds = mask[:n], seeds[:n]
	c.expose(p)
	c.differ(p)
	c.near(seeds)
	c.choose(p)
	c.grow(seeds)
	c.settle(p, seeds, dt)
	clear(mask)
	for y := c.top; y < c.bottom; y++ {
		row := mask[y*p.Width:][c.left:c.right]
		for x, m := range c.marks[y*p.Width:][c.left:c.right] {
			row[x] = -m
		}
	}
	c.learn(p, dt)
}

// steady tells whether the camera looks where it usually does.
func (p Picture) steady() bool { return math.Abs(p.ShiftX) < 0.05 && math.Abs(p.ShiftY) < 0.05 }

// begin takes a picture for the background.
func (c *Contour) begin(p Picture) {
	n := p.Width * p.Height
	*c = Contour{width: p.Width, height: p.Height, time: p.Time, back: make([]uint16, n), dev: make([]uint16, n),
		marks: make([]byte, n), held: make([]uint16, n), lately: make([]byte, n), shifted: make([]uint16, n),
		raw: make([]int16, n), smooth: make([]int16, n), prior: make([]byte, n), cand: make([]byte, n),
		rows: make([]int16, n), lines: make([]byte, n), columns: make([]sums, p.Width), shade: make([]byte, n),
		before: make([]byte, n), seems: make([]byte, n), former: make([]uint16, n)}
	for y := range p.Height {
		for x, v := range p.Luma[y*p.Stride:][:p.Width] {
			c.back[y*p.Width+x] = uint16(v) << 8
			c.before[y*p.Width+x] = v
		}
	}
	for i := range c.dev {
		c.dev[i] = firstDev
	}
}
