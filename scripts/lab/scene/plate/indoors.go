package plate

import "math"

// boards are planks that run into the depth, bricks and tiles what walls and floors are laid of.
func boards(horizon, n, dark float64) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		d := y - horizon + 0.15
		u := (x-0.5)/d*n + 50
		k := math.Floor(u)
		g := 14 * hash(int32(k), int32(math.Floor(y*3+hash(int32(k), 3)*2)))
		if u-k < 0.06 {
			g -= dark
		}
		return g
	}
}

func bricks(nx, ny, joint float64) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		row := math.Floor(y * ny)
		u := x*nx + 0.5*math.Mod(row, 2)
		g := 7 * hash(int32(math.Floor(u)), int32(row))
		if u-math.Floor(u) < 0.08 || y*ny-row < 0.16 {
			g += joint
		}
		return g
	}
}

func tiles(horizon, n, joint float64) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		d := max(0.03, y-horizon)
		u, v := (x-0.5)/d*n*0.2+40, n*0.15/d
		g := 5 * hash(int32(math.Floor(u)), int32(math.Floor(v)))
		if d > 0.12 && (u-math.Floor(u) < 0.05 || v-math.Floor(v) < 0.05) {
			g -= joint
		}
		return g
	}
}

// lamps light the picture in pools below them.
func (c *canvas) lamps(n int, base float64) {
	type pool struct{ x, y, r, k float64 }
	pools := make([]pool, n)
	for i := range pools {
		pools[i] = pool{(float64(i) + c.between(0.2, 0.8)) / float64(n), c.between(0.1, 0.7), c.between(0.25, 0.6),
			c.between(0.4, 0.9)}
	}
	c.glow(Lamp, func(x, y float64) float64 {
		l := base
		for _, p := range pools {
			l += p.k * math.Exp(-((x-p.x)*(x-p.x)+0.5*(y-p.y)*(y-p.y))/(p.r*p.r))
		}
		return l
	})
}

// spot is the light of the camera's own lamp: it falls off to the corners and into the depth.
func (c *canvas) spot(horizon float64) {
	wide := c.between(0.35, 0.9)
	c.glow(Infrared, func(x, y float64) float64 {
		d := ((x-0.5)*(x-0.5) + 0.6*(y-0.55)*(y-0.55)) / (wide * wide)
		return (0.25 + 0.9*math.Exp(-d)) * (0.55 + 0.5*max(0, min(1, (y-horizon)*1.6)))
	})
}

// block is a box of furniture: its front, a lighter top, its shadow on the floor where the lamp
// does not reach.
func (c *canvas) block(p paint, x0, top, x1, foot float64) {
	side := c.between(-0.08, 0.08)
	c.shade(Lamp, 0.55, 0.03, point{x0 + side, foot - 0.03}, point{x1 + side*1.5, foot - 0.03},
		point{x1 + side*2, foot + 0.05}, point{x0 + side, foot + 0.05})
	p.depth = Stands(foot)
	c.rect(p, x0, top, x1, foot)
	lid := p
	lid.day, lid.infra, lid.pattern = min(240, p.day+28), min(240, p.infra+25), nil
	c.poly(lid, point{x0, top}, point{x1, top}, point{x1 - 0.01, top - 0.03}, point{x0 + 0.01, top - 0.03})
}

func office(c *canvas, p *Plate) {
	p.Horizon, p.Tall = c.between(0.05, 0.2), c.between(0.85, 1.15)
	edge := c.between(0.5, 0.62)
	wall := c.between(120, 215)
	c.rect(paint{day: wall, infra: wall + c.between(-25, 15), grain: 5, scale: 11, u: -3, v: 3}, 0, 0, 1, edge)
	floor := paint{day: c.between(70, 150), infra: c.between(100, 170), grain: 12, scale: 60, u: -16, v: 14}
	switch c.r.IntN(3) {
	case 0:
		floor.pattern = boards(p.Horizon, c.between(7, 16), c.between(10, 30))
	case 1:
		floor.pattern = tiles(p.Horizon, c.between(10, 25), c.between(6, 20))
	default:
		floor.grain, floor.scale = 18, 150 // carpet
	}
	c.rect(floor, 0, edge, 1, 1)
	// skirting
	c.rect(paint{day: wall * 0.55, infra: wall * 0.6, grain: 4, scale: 40, u: -10, v: 12}, 0, edge-0.012, 1, edge+0.008)
	x := c.between(0.04, 0.2) // window with a frame
	for k := range 2 + c.r.IntN(2) {
		l := x + float64(k)*0.13
		c.rect(paint{day: c.between(190, 245), infra: 40, grain: 12, scale: 8, u: 5, v: -3}, l, 0.06, l+0.12, 0.36)
		c.rect(paint{day: 60, infra: 80}, l+0.118, 0.05, l+0.13, 0.37)
	}
	d := c.between(0.6, 0.8) // door
	p.Door = [3]float64{d, d + 0.12, edge + 0.02}
	c.rect(paint{day: wall * 0.5, infra: wall * 0.7, grain: 7, scale: 30, u: -8, v: 10}, d, edge-0.44, d+0.12,
		edge+0.015)
	c.rect(paint{day: wall*0.5 + 25, infra: wall * 0.8}, d+0.1, edge-0.2, d+0.112, edge-0.185)
	// picture or notice board
	c.rect(paint{day: 128, infra: 120, grain: 60, scale: 45, u: 8, v: -6}, d-0.2, 0.13, d-0.07, 0.3)
	for range 2 + c.r.IntN(3) { // desks, cupboards, boxes
		w, foot := c.between(0.07, 0.2), c.between(edge+0.05, 0.98)
		l, high := c.between(0, 1-w), c.between(0.12, 0.3)
		c.block(paint{day: c.between(35, 200), infra: c.between(60, 200), grain: c.between(3, 14),
			scale: c.between(20, 70), pattern: shelves(l, foot-high, w, high, c)}, l, foot-high, l+w, foot)
	}
	p.Screen = [4]float64{d - 0.2, 0.13, d - 0.07, 0.3}
	c.lamps(2+c.r.IntN(2), 0.35)
	c.glow(Sky, func(x, y float64) float64 { return 0.5 + 0.7*math.Exp(-3*((x-0.2)*(x-0.2)+(y-0.6)*(y-0.6))) })
	c.spot(p.Horizon)
}

// shelves are the drawers, shelves or keys of a thing.
func shelves(left, top, w, h float64, c *canvas) func(x, y float64) float64 {
	rows, cols, seed, strong := float64(1+c.r.IntN(5)), float64(1+c.r.IntN(4)), int32(c.r.IntN(1000)), c.between(4, 40)
	return func(x, y float64) float64 {
		u, v := (x-left)/w*cols, (y-top)/h*rows
		g := strong * hash(int32(math.Floor(u))+seed, int32(math.Floor(v)))
		if v-math.Floor(v) < 0.1 || u-math.Floor(u) < 0.05 {
			g -= 22
		}
		return g
	}
}

func corridor(c *canvas, p *Plate) {
	p.Horizon, p.Tall = c.between(0.22, 0.36), c.between(1.1, 1.5)
	fx, far := c.between(0.4, 0.6), c.between(0.1, 0.16) // the far end
	l, r, t, b := fx-far*0.6, fx+far*0.6, p.Horizon-far*0.7, p.Horizon+far*1.1
	wall := c.between(110, 200)
	c.poly(paint{day: wall + 25, infra: wall + 20, grain: 4, scale: 20}, point{0, 0}, point{1, 0}, point{r, t},
		point{l, t})
	c.poly(paint{day: wall, infra: wall, grain: 6, scale: 25, pattern: bricks(30, 40, c.between(-12, 8))}, point{0, 0},
		point{l, t}, point{l, b}, point{0, 1.25})
	c.poly(paint{day: wall - 15, infra: wall + 5, grain: 6, scale: 25}, point{1, 0}, point{r, t}, point{r, b},
		point{1, 1.25})
	c.poly(paint{day: c.between(60, 140), infra: c.between(80, 160), grain: 6, scale: 90,
		pattern: tiles(p.Horizon-0.03, c.between(6, 14), c.between(5, 22)), u: -4, v: 5},
		point{l, b}, point{r, b}, point{1, 1.25}, point{0, 1.25})
	c.rect(paint{day: c.between(60, 230), infra: 90, grain: 20, scale: 40}, l, t, r, b)
	for _, k := range []float64{0.25, 0.5, 0.72} { // doors on both sides
		door := paint{day: wall * c.between(0.4, 0.8), infra: wall * 0.8, grain: 6, scale: 50, u: -10, v: 12}
		in := func(x, y float64) (float64, float64) { return fx + (x-fx)*k, p.Horizon + (y-p.Horizon)*k }
		for _, side := range []float64{0, 1} {
			x0, y0 := in(side, 0.25)
			_, y1 := in(side, 1.2)
			x1 := x0 + (fx-x0)*0.28
			c.poly(door, point{x0, y0}, point{x1, y0 + (y1-y0)*0.1}, point{x1, y1 - (y1-y0)*0.16}, point{x0, y1})
		}
	}
	for k := 0.15; k < 1; k += 0.22 { // lamps on the ceiling mirror in the floor
		y := p.Horizon - (p.Horizon)*k
		c.rect(paint{day: 245, infra: 60}, fx-0.08*k, y, fx+0.08*k, y+0.03*k)
		c.shade(Lamp, 1.35, 0.05, point{fx - 0.1*k, p.Horizon + 0.6*k}, point{fx + 0.1*k, p.Horizon + 0.6*k},
			point{fx + 0.12*k, p.Horizon + 0.8*k}, point{fx - 0.12*k, p.Horizon + 0.8*k})
	}
	foot := c.between(0.8, 1.1)
	x := c.between(0, 0.12)
	// plant or bin
	c.block(paint{day: c.between(30, 120), infra: 150, grain: 25, scale: 120}, x, foot-0.4, x+0.08, foot)
	c.lamps(2, 0.5)
	c.glow(Sky, func(x, y float64) float64 {
		return 0.3 + 0.6*math.Exp(-8*((x-fx)*(x-fx)+(y-p.Horizon)*(y-p.Horizon)))
	})
	c.spot(p.Horizon)
}

func warehouse(c *canvas, p *Plate) {
	p.Horizon, p.Tall = c.between(0.02, 0.2), c.between(0.5, 0.8)
	edge := c.between(0.38, 0.48)
	c.rect(paint{day: c.between(70, 150), infra: 110, grain: 6, scale: 15, pattern: bricks(60, 3, -14)}, 0, 0, 1, edge)
	c.rect(paint{day: c.between(85, 150), infra: 130, grain: 16, scale: 22}, 0, edge, 1, 1)
	line := paint{day: 205, infra: 190, grain: 14, scale: 80, u: -30, v: 8}
	for _, x := range []float64{0.32, 0.68} {
		c.poly(line, point{0.5 + (x-0.5)*0.7, edge}, point{0.5 + (x-0.5)*0.72, edge}, point{0.5 + (x-0.5)*2, 1},
			point{0.5 + (x-0.5)*1.9, 1})
	}
	for _, side := range []float64{-1, 1} { // racks with boxes
		for level := range 4 {
			y0, y1 := 0.02+float64(level)*0.19, 0.17+float64(level)*0.19
			for k := range 7 {
				x0 := 0.5 + side*(0.5-float64(k)*0.045)
				x1 := 0.5 + side*(0.46-float64(k)*0.045)
				s := 1 - float64(k)*0.085
				g := c.between(50, 190)
				box := paint{day: g, infra: min(220, g+c.between(0, 50)), grain: c.between(3, 18),
					scale: c.between(30, 90), u: -12, v: 10, depth: Stands((0.2 + y1) * s)}
				c.poly(box, point{x0, 0.02 + (y0-0.02)*s}, point{x1, 0.02 + (y0-0.02)*(s-0.085)},
					point{x1, 0.02 + (y1-0.02)*(s-0.085)}, point{x0, 0.02 + (y1-0.02)*s})
			}
		}
	}
	p.Door = [3]float64{0.42, 0.58, edge + 0.01}
	c.rect(paint{day: c.between(40, 230), infra: 40, grain: 6, scale: 10, pattern: bricks(3, 60, -20)}, 0.42, edge-0.28,
		0.58, edge+0.005)
	for range 1 + c.r.IntN(3) {
		w, foot := c.between(0.05, 0.12), c.between(edge+0.1, 0.95)
		l := c.between(0.28, 0.7-w)
		high := c.between(0.08, 0.2)
		c.block(paint{day: c.between(60, 170), infra: 160, grain: 12, scale: 50,
			pattern: shelves(l, foot-high, w, high, c), u: -14, v: 10}, l, foot-high, l+w, foot)
	}
	c.lamps(3, 0.3)
	c.glow(Sky, func(x, y float64) float64 { return 0.35 + 0.4*math.Exp(-6*(x-0.5)*(x-0.5)) })
	c.spot(p.Horizon)
}
