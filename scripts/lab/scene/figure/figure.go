// Package figure draws those who move through a scene: people who walk, stand, turn and crawl, and
// cars.
//
// What is drawn is linear light, before the camera: a figure reflects the light of its place, hides
// what is behind it, is hidden by what stands in front, and throws a soft shadow. It stands between
// plate, which paints the place, and lens:
//
//	look := figure.Dress(r)
//	look.Draw(&target, figure.Pose{X: 0.4, Feet: 0.9, Tall: 0.5, Phase: t, Facing: 1})
package figure

import (
	"math"

	"vmsbridge/scripts/lab/scene/plate"
)

// Target is what is drawn on. Planes that are nil are left out.
type Target struct {
	Width, Height int
	Pix           []uint16 // radiance
	Depth         []uint8  // plate.Stands of what stands in the foreground
	Cover         []uint8  // becomes 255 where something is drawn; shadows do not count
	Fills         []uint16 // how much of a pixel is hidden by what is drawn, 65535 is all of it; shadows do not count
	U, V          []byte
	Infra         bool // what is drawn is seen in infrared
	Warm          bool // what is drawn is seen by its warmth: brighter than most, and without a shadow
	// Left and Right are the pixels between which is drawn, as in the gap of a door; both 0 is
	// everywhere.
	Left, Right int
	// Light is how much light falls at a place, 1 is plate.Unit; nil is 1 everywhere.
	Light func(x, y float64) float64
}

// Tone is a surface: its grey level by day and in infrared, and its colour.
type Tone struct{ Day, Infra, U, V float64 }

// brush is a surface in the light of its place.
type brush struct {
	level  float64 // radiance
	tone   Tone
	stands uint8
	rough  float64 // strength of the folds
	seed   float64
}

func (t *Target) brush(tone Tone, x, y float64, stands uint8, rough, seed float64) brush {
	g := tone.Day
	if t.Infra {
		g = tone.Infra
	}
	if t.Warm {
		g = 125 + 0.4*g
	}
	l := 1.0
	if t.Light != nil {
		l = t.Light(max(0, min(1, x)), max(0, min(1, y)))
	}
	return brush{float64(plate.Linear(g)) * l, tone, stands, rough, seed}
}

// blend lays a brush over a pixel. cover is how much of the pixel it fills, shade what its form and
// folds make of its level.
func (t *Target) blend(x, y int, b brush, cover, shade float64) {
	i := y*t.Width + x
	if t.Depth != nil && t.Depth[i] > b.stands || t.Right != 0 && (x < t.Left || x >= t.Right) {
		return
	}
	if t.Cover != nil && cover >= 0.5 {
		t.Cover[i] = 255
	}
	if t.Fills != nil {
		t.Fills[i] += uint16(max(0, min(1, cover)) * float64(65535-t.Fills[i]))
	}
	if t.Pix != nil {
		v := float64(t.Pix[i])
		t.Pix[i] = uint16(max(0, min(65535, v+cover*(b.level*shade-v))))
	}
	if t.U != nil && cover >= 0.5 {
		if j := y/2*(t.Width/2) + x/2; j < len(t.U) {
			t.U[j], t.V[j] = byte(128+b.tone.U), byte(128+b.tone.V)
		}
	}
}

// limb is a line with a radius at either end, all in pixels, with soft edges and the shading of
// something round.
func (t *Target) limb(b brush, x0, y0, r0, x1, y1, r1 float64) {
	r := max(r0, r1) + 1
	dx, dy := x1-x0, y1-y0
	long := dx*dx + dy*dy + 1e-9
	scale := 1 / math.Sqrt(long)
	for y := max(0, int(min(y0, y1)-r)); y <= min(t.Height-1, int(max(y0, y1)+r)); y++ {
		ey := float64(y) + 0.5 - y0
		for x := max(0, int(min(x0, x1)-r)); x <= min(t.Width-1, int(max(x0, x1)+r)); x++ {
			ex := float64(x) + 0.5 - x0
			f := max(0, min(1, (ex*dx+ey*dy)/long))
			px, py := ex-f*dx, ey-f*dy
			here := r0 + f*(r1-r0)
			d2 := px*px + py*py
			if d2 > (here+0.5)*(here+0.5) {
				continue
			}
			cover := min(1, here+0.5-math.Sqrt(d2))
			side := (ex*dy - ey*dx) * scale / (here + 1)
			shade := 1 - 0.2*side - 0.25*side*side
			if b.rough > 0 {
				shade += b.rough * plate.Noise(side*2+b.seed, f*5+b.seed*3)
			}
			t.blend(x, y, b, cover, shade)
		}
	}
}

// slab is a box from one corner to the other, in pixels, with soft edges.
func (t *Target) slab(b brush, x0, y0, x1, y1 float64) {
	for y := max(0, int(y0)); y < min(t.Height, int(y1)+1); y++ {
		cy := min(y1, float64(y+1)) - max(y0, float64(y))
		for x := max(0, int(x0)); x < min(t.Width, int(x1)+1); x++ {
			cover := cy * (min(x1, float64(x+1)) - max(x0, float64(x)))
			if cover <= 0 {
				continue
			}
			v := (float64(y) - y0) / (y1 - y0)
			t.blend(x, y, b, cover, 1.1-0.25*v+b.rough*plate.Noise((float64(x)-x0)*6/(x1-x0)+b.seed, v*4))
		}
	}
}

// Slab draws a box, such as the leaf of a door or the dark behind it; all in fractions.
func (t *Target) Slab(tone Tone, left, top, right, bottom float64, stands uint8) {
	w, h := float64(t.Width), float64(t.Height)
	t.slab(t.brush(tone, (left+right)/2, bottom, stands, 0.05, 1), left*w, top*h, right*w, bottom*h)
}

// Shadow darkens an ellipse, softly; all in fractions, strong 0..1.
func (t *Target) Shadow(cx, cy, rx, ry, lean, strong float64, stands uint8) {
	if t.Pix == nil || t.Warm {
		return
	}
	w, h := float64(t.Width), float64(t.Height)
	for y := max(0, int((cy-ry)*h)); y < min(t.Height, int((cy+ry)*h)+1); y++ {
		v := ((float64(y)+0.5)/h - cy) / ry
		mid := cx + lean*v*ry
		for x := max(0, int((mid-rx)*w)); x < min(t.Width, int((mid+rx)*w)+1); x++ {
			u := ((float64(x)+0.5)/w - mid) / rx
			k := 1 - u*u - v*v
			if i := y*t.Width + x; k > 0 && (t.Depth == nil || t.Depth[i] <= stands) {
				t.Pix[i] = uint16(float64(t.Pix[i]) * (1 - strong*min(1, 1.8*k)))
			}
		}
	}
}
