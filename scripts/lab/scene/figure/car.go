package figure

import "vmsbridge/scripts/lab/scene/plate"

// Car is a car or a van seen from the side.
type Car struct {
	Body, Glass, Wheels Tone
	Van                 bool
	Lamps               float64 // brightness of the lamps, 0 is off
	Seed                float64
}

// Draw draws the car with its nose at x in the direction of facing, its wheels on foot; long is its
// length, all as fractions.
func (c *Car) Draw(t *Target, x, foot, long, facing float64) {
	w, h := float64(t.Width), float64(t.Height)
	dir := 1.0
	if facing < 0 {
		dir = -1
	}
	size := long * w
	high := size * 0.36
	if c.Van {
		high = size * 0.55
	}
	stands := plate.Stands(foot)
	t.Shadow(x-dir*long*0.5, foot, long*0.56, 0.05*size/h, 0, 0.5, stands)
	body := t.brush(c.Body, x-dir*long*0.5, foot-high*0.4/h, stands, 0.12, c.Seed)
	glass := t.brush(c.Glass, x, foot, stands, 0.3, c.Seed)
	wheels := t.brush(c.Wheels, x, foot, stands, 0, 0)
	nose, y := x*w, foot*h
	box := func(b brush, from, low, to, top float64) { // from the nose, in lengths and heights
		x0, x1 := nose-dir*from*size, nose-dir*to*size
		t.slab(b, min(x0, x1), y-top*high, max(x0, x1), y-low*high)
	}
	line := func(b brush, from, up, to, up2, r float64) {
		t.limb(b, nose-dir*from*size, y-up*high, r*high, nose-dir*to*size, y-up2*high, r*high)
	}
	if c.Van {
		box(body, 0.03, 0.16, 1, 1)
		line(body, 0.06, 0.3, 0.06, 0.55, 0.12)
		box(glass, 0.07, 0.55, 0.2, 0.88)
	} else {
		box(body, 0.02, 0.2, 0.99, 0.58)
		line(body, 0.25, 0.55, 0.42, 0.9, 0.08)
		line(body, 0.42, 0.9, 0.72, 0.9, 0.1)
		line(body, 0.72, 0.9, 0.9, 0.55, 0.08)
		box(body, 0.32, 0.5, 0.82, 0.86)
		box(glass, 0.38, 0.58, 0.55, 0.88)
		box(glass, 0.58, 0.58, 0.78, 0.88)
	}
	for _, at := range []float64{0.2, 0.8} {
		line(wheels, at, 0.15, at, 0.16, 0.17)
	}
	if c.Lamps > 0 && t.Pix != nil {
		lamp := brush{level: 65535 * c.Lamps, stands: stands}
		line(lamp, 0.02, 0.42, 0.03, 0.42, 0.07)
	}
}
