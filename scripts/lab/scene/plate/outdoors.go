package plate

import (
	"math/rand/v2"
)

// grass and leaves are rough at all scales.
func rough(strong, scale float64) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		return strong * (value(x*scale, y*scale*0.6) + 0.7*value(x*scale*2.7, y*scale*1.7) +
			0.5*value(x*scale*0.3, y*scale*0.2))
	}
}

// sky is bright by day and black at night.
func (c *canvas) sky(to float64) {
	g := c.between(190, 240)
	c.rect(paint{day: g, infra: 6, grain: 14, scale: 5, u: 12, v: -8}, 0, 0, 1, to)
}

// house is a front with windows; it throws a shadow to one side.
func (c *canvas) house(x0, top, x1, foot float64) {
	g := c.between(80, 190)
	front := paint{day: g, infra: g + 15, grain: 5, scale: 30, u: -6, v: 8}
	if c.r.IntN(2) == 0 {
		front.pattern = bricks(70, 60, c.between(-15, 18))
	}
	c.rect(front, x0, top, x1, foot)
	for x := x0 + 0.02; x < x1-0.06; x += 0.085 {
		for y := top + 0.03; y < foot-0.12; y += 0.15 {
			c.rect(paint{day: c.between(25, 90), infra: 30, grain: 14, scale: 40, u: 6}, x, y, x+0.05, y+0.085)
			c.rect(paint{day: min(235, g+40), infra: g + 30}, x-0.004, y+0.085, x+0.054, y+0.095)
		}
	}
}

// car is parked: body, roof with windows, wheels, and its shadow.
func (c *canvas) car(x, foot, long float64) {
	g := c.between(20, 220)
	high := long * 0.55
	c.shade(Sky, 0.5, 0.02, point{x, foot - 0.01}, point{x + long, foot - 0.01}, point{x + long, foot + 0.015},
		point{x, foot + 0.015})
	c.shade(Lamp, 0.25, 0.008, point{x + 0.02, foot - 0.02}, point{x + long*1.15, foot - 0.02},
		point{x + long*1.2, foot + 0.03}, point{x + 0.04, foot + 0.03})
	body := paint{day: g, infra: max(30, g*0.8), grain: 9, scale: 60, depth: Stands(foot), u: c.between(-20, 20),
		v: c.between(-20, 20)}
	c.poly(body, point{x, foot - high*0.2}, point{x + 0.02*long, foot - high*0.6},
		point{x + 0.2*long, foot - high*0.65}, point{x + 0.32*long, foot - high}, point{x + 0.75*long, foot - high},
		point{x + 0.9*long, foot - high*0.62}, point{x + long, foot - high*0.55}, point{x + long, foot - high*0.2})
	glass := paint{day: c.between(30, 80), infra: 25, grain: 25, scale: 30, depth: body.depth}
	c.poly(glass, point{x + 0.25*long, foot - high*0.66}, point{x + 0.34*long, foot - high*0.94},
		point{x + 0.73*long, foot - high*0.94}, point{x + 0.84*long, foot - high*0.64})
	for _, at := range []float64{0.18, 0.8} {
		c.rect(paint{day: 22, infra: 40, grain: 10, scale: 90, depth: body.depth}, x+(at-0.07)*long, foot-high*0.3,
			x+(at+0.07)*long, foot)
	}
}

// sun throws the lamp's light from one side; the soft light of the sky is everywhere.
func (c *canvas) sun(horizon float64) {
	strong := c.between(0.5, 1.3)
	c.glow(Lamp, func(_, y float64) float64 {
		if y < horizon {
			return strong * 0.5
		}
		return strong
	})
	c.glow(Sky, func(_, y float64) float64 { return 0.75 + 0.15*y })
	c.spot(horizon)
}

// branches throw the shadow of a tree on the ground.
func (c *canvas) branches(x, y, size float64) {
	for range 40 {
		a, b := x+size*c.r.NormFloat64()*0.5, y+size*c.r.NormFloat64()*0.16
		s := size * c.between(0.02, 0.09)
		c.shade(Lamp, 0.45, 0.006, point{a - s, b}, point{a, b - s*0.5}, point{a + s, b}, point{a, b + s*0.5})
	}
}

func yard(c *canvas, p *Plate) {
	p.Horizon, p.Tall = c.between(0.1, 0.25), c.between(0.65, 0.95)
	edge := c.between(0.4, 0.5)
	c.sky(edge)
	// hedge
	c.rect(paint{day: c.between(50, 95), infra: 190, pattern: rough(26, 60), u: -14, v: -8}, 0, edge-0.22, 1, edge)
	g := c.between(75, 125)
	c.rect(paint{day: g, infra: 175, pattern: rough(13, 140), grain: 14, scale: 9, u: -16, v: -8}, 0, edge, 1, 1)
	path := paint{day: c.between(120, 180), infra: 140, grain: 14, scale: 110, pattern: tiles(p.Horizon, 22, 14)}
	x := c.between(0.3, 0.6)
	c.poly(path, point{x, edge}, point{x + 0.09, edge}, point{x + 0.35, 1}, point{x - 0.15, 1})
	h := c.between(0.2, 0.34)
	c.house(0, 0.02, h, edge+0.06)
	p.Door = [3]float64{h - 0.1, h - 0.02, edge + 0.065}
	c.rect(paint{day: c.between(30, 90), infra: 90, grain: 8, scale: 30}, h-0.1, edge-0.24, h-0.02, edge+0.06)
	c.shade(Lamp, 0.3, 0.01, point{0, edge + 0.05}, point{h, edge + 0.05}, point{h + 0.12, edge + 0.2},
		point{0, edge + 0.24})
	for f := 0.55; f < 1; f += 0.045 { // fence
		c.rect(paint{day: 165, infra: 170, grain: 12, scale: 90}, f, edge-0.1, f+0.014, edge+0.05)
	}
	c.rect(paint{day: 150, infra: 160}, 0.55, edge-0.06, 1, edge-0.045)
	c.branches(c.between(0.5, 0.9), c.between(0.6, 0.9), c.between(0.2, 0.4))
	foot := c.between(0.75, 0.95)
	b := c.between(0.65, 0.85)
	// bush
	c.block(paint{day: c.between(40, 130), infra: 190, pattern: rough(30, 70), u: -14, v: -6}, b, foot-0.2, b+0.14,
		foot)
	p.Water = [4]float64{0.05, 0.82, 0.3, 0.97}
	c.sun(edge)
}

func street(c *canvas, p *Plate) {
	p.Horizon, p.Tall = c.between(0.08, 0.22), c.between(0.5, 0.8)
	edge := c.between(0.34, 0.42)
	c.sky(edge)
	for x := -0.05; x < 1; {
		w := c.between(0.16, 0.34)
		c.house(x, c.between(-0.1, 0.12), x+w, edge)
		x += w + c.between(0, 0.03)
	}
	c.rect(paint{day: c.between(120, 165), infra: 130, grain: 10, scale: 120, pattern: tiles(p.Horizon, 30, 9)}, 0,
		edge, 1, edge+0.1)
	road := c.between(60, 110)
	c.rect(paint{day: road, infra: road + 10, grain: 13, scale: 170}, 0, edge+0.1, 1, 0.86)
	c.rect(paint{day: 165, infra: 150, grain: 8, scale: 60}, 0, edge+0.095, 1, edge+0.108)
	c.rect(paint{day: c.between(110, 150), infra: 130, grain: 12, scale: 130, pattern: tiles(p.Horizon, 16, 12)}, 0,
		0.86, 1, 1)
	for x := c.between(-0.1, 0.05); x < 1; x += 0.2 {
		c.poly(paint{day: 205, infra: 190, grain: 16, scale: 100}, point{x, 0.63}, point{x + 0.09, 0.63},
			point{x + 0.085, 0.648}, point{x - 0.007, 0.648})
	}
	for x := c.between(0, 0.2); x < 0.9; x += c.between(0.18, 0.4) {
		c.car(x, edge+c.between(0.13, 0.16), 0.15)
	}
	pole := c.between(0.1, 0.9)
	c.rect(paint{day: 50, infra: 80, grain: 5, scale: 80, depth: Stands(0.9)}, pole, 0, pole+0.014, 0.9)
	c.shade(Lamp, 0.4, 0, point{pole, 0.9}, point{pole + 0.012, 0.9}, point{pole + 0.3, 1}, point{pole + 0.27, 1})
	p.Door = [3]float64{0.46, 0.52, edge + 0.01}
	c.rect(paint{day: 35, infra: 60, grain: 6, scale: 30}, 0.46, edge-0.19, 0.52, edge+0.005)
	c.shade(Lamp, 0.35, 0.01, point{0, edge}, point{1, edge}, point{1, edge + c.between(0.05, 0.25)},
		point{0, edge + c.between(0.05, 0.25)})
	p.Screen = [4]float64{0.3, edge - 0.16, 0.42, edge - 0.05}
	c.sun(edge)
}

func parking(c *canvas, p *Plate) {
	p.Horizon, p.Tall = c.between(-0.1, 0.1), c.between(0.35, 0.55)
	edge := c.between(0.22, 0.32)
	c.sky(edge)
	c.rect(paint{day: c.between(50, 90), infra: 180, pattern: rough(24, 50), u: -10, v: -6}, 0, edge-0.14, 1, edge)
	g := c.between(70, 120)
	c.rect(paint{day: g, infra: g + 10, grain: 15, scale: 190, pattern: rough(5, 12)}, 0, edge, 1, 1)
	for _, row := range []float64{edge + 0.1, edge + 0.34} {
		s := 0.55 + row
		for x := c.between(-0.1, 0); x < 1; x += 0.14 * s {
			c.poly(paint{day: 200, infra: 185, grain: 16, scale: 120}, point{x, row}, point{x + 0.007, row},
				point{x - 0.033, row + 0.13*s}, point{x - 0.045, row + 0.13*s})
			if c.r.Float64() < 0.6 {
				c.car(x+0.01, row+0.1*s, 0.11*s)
			}
		}
	}
	pole := c.between(0.15, 0.85)
	c.rect(paint{day: 140, infra: 150, depth: Stands(0.75)}, pole, 0.02, pole+0.01, 0.75)
	c.shade(Lamp, 0.4, 0, point{pole, 0.75}, point{pole + 0.01, 0.75}, point{pole + 0.4, 0.86},
		point{pole + 0.39, 0.875})
	c.branches(c.between(0.1, 0.9), c.between(0.5, 0.9), c.between(0.15, 0.35))
	c.sun(edge)
}

// tree paints a tree on a layer of its own: a trunk, branches and leaves.
func tree(c *canvas, p *Plate, seed uint64) *Layer {
	t := newCanvas(c.w, c.h, rand.New(rand.NewPCG(seed, 0x7ee)))
	x, foot := t.between(0.15, 0.85), t.between(0.55, 1.05)
	top, wide := t.between(-0.15, 0.15), t.between(0.1, 0.24)
	mark := paint{day: 45, infra: 110, grain: 18, scale: 90, depth: 255}
	t.poly(mark, point{x - 0.014, foot}, point{x + 0.014, foot}, point{x + 0.006, top}, point{x - 0.006, top})
	crown := (foot - top) * 0.62
	for range 14 { // branches
		y := top + crown*t.r.Float64()
		dx, dy := wide*t.between(-1, 1), -crown*t.between(0.05, 0.3)
		t.poly(mark, point{x, y}, point{x + dx, y + dy}, point{x + dx, y + dy + 0.008}, point{x, y + 0.018})
	}
	dark := t.between(30, 90)
	for range 900 { // leaves
		a := t.r.NormFloat64() * 0.42
		b := t.r.NormFloat64() * 0.4
		if a*a+b*b > 1 {
			continue
		}
		lx, ly := x+a*wide, top+crown*(0.45+b*0.75)
		s := t.between(0.004, 0.014)
		g := dark + t.between(-25, 45)
		t.poly(paint{day: g, infra: min(230, g+110), depth: 255}, point{lx - s, ly}, point{lx, ly - s},
			point{lx + s, ly + s*0.4}, point{lx + s*0.2, ly + s})
	}
	n := p.Width * p.Height
	l := &Layer{Reflects: make([]uint16, n), InReflects: make([]uint16, n), Alpha: make([]uint8, n), Left: p.Width,
		Top: p.Height}
	cover := make([]float32, len(t.depth))
	for i, d := range t.depth {
		if d != 0 {
			cover[i] = 255
		}
	}
	alpha := resize(cover, t.w, t.h, p.Width, p.Height)
	day, infra := resize(t.day, t.w, t.h, p.Width, p.Height), resize(t.infra, t.w, t.h, p.Width, p.Height)
	for i, a := range alpha {
		if a < 1 {
			continue
		}
		k := 255 / float64(a) // only what is painted counts for the level
		l.Reflects[i], l.InReflects[i], l.Alpha[i] = Linear(min(250, float64(day[i])*k)),
			Linear(min(250, float64(infra[i])*k)), uint8(a)
		l.Left, l.Right = min(l.Left, i%p.Width), max(l.Right, i%p.Width+1)
		l.Top, l.Bottom = min(l.Top, i/p.Width), max(l.Bottom, i/p.Width+1)
	}
	return l
}
