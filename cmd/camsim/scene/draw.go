package scene

import (
	"math"
	"math/rand/v2"
)

// noiseLen is a power of two, so that a wrapped index is a mask.
const noiseLen = 1 << 16

// makeNoise draws sensor noise of about two grey levels, as a small camera has it in a lit room.
func makeNoise(r *rand.Rand) []int8 {
	n := make([]int8, noiseLen)
	for i := range n {
		n[i] = int8(math.Round(max(-8, min(8, r.NormFloat64()*2))))
	}
	return n
}

func newPicture(width, height int) Picture {
	return Picture{Y: make([]byte, width*height), U: make([]byte, width*height/4), V: make([]byte, width*height/4)}
}

// makeRoom draws the background: a wall with some texture, a floor, a door, a cupboard and a picture on the wall. The texture
// depends on the place as a fraction of the picture, not on its size.
func makeRoom(o Options) Picture {
	p := newPicture(o.Width, o.Height)
	r := rand.New(rand.NewPCG(7, 7)) // one room for all seeds
	var lattice [33][33]float64
	for i := range lattice {
		for j := range lattice[i] {
			lattice[i][j] = r.Float64()*2 - 1
		}
	}
	texture := func(x, y, scale float64) float64 { // smooth value noise
		fx, fy := x*scale, y*scale
		i, j := int(fx)%32, int(fy)%32
		u, v := fx-math.Floor(fx), fy-math.Floor(fy)
		top := lattice[j][i]*(1-u) + lattice[j][i+1]*u
		low := lattice[j+1][i]*(1-u) + lattice[j+1][i+1]*u
		return top*(1-v) + low*v
	}
	for y := range o.Height {
		fy := (float64(y) + 0.5) / float64(o.Height)
		for x := range o.Width {
			fx := (float64(x) + 0.5) / float64(o.Width)
			l := 150 - 25*abs(fx-0.4) + 5*texture(fx, fy, 9) + 4*texture(fx, fy, 31)
			if fy > 0.72 { // floor boards
				l = 105 + 30*(fy-0.72) + 6*texture(fx, fy, 29)
				if math.Mod(fx*14+fy*3, 1) < 0.04 {
					l -= 18
				}
			}
			switch {
			case fx > 0.80 && fx < 0.93 && fy > 0.18 && fy < 0.74: // door
				l = 96 + 4*texture(fx, fy, 25)
			case fx > 0.05 && fx < 0.22 && fy > 0.45 && fy < 0.78: // cupboard
				l = 78 + 5*texture(fx, fy, 27)
			case fx > 0.42 && fx < 0.58 && fy > 0.12 && fy < 0.30: // picture on the wall
				l = 120 + 45*texture(fx, fy, 19)
			}
			p.Y[y*o.Width+x] = clampLuma(l)
		}
	}
	for i := range p.U {
		fy := float64(i/(o.Width/2)) / float64(o.Height/2)
		p.U[i], p.V[i] = 124, 131
		if fy > 0.72 {
			p.U[i], p.V[i] = 112, 140
		}
	}
	return p
}

func clampLuma(l float64) byte { return byte(max(16, min(235, math.Round(l)))) }

// Draw paints picture i of the loop into p, whose planes are made if they do not fit.
func (s *Scene) Draw(i int, p *Picture) {
	w, h := s.o.Width, s.o.Height
	if len(p.Y) != w*h || len(p.U) != w*h/4 || len(p.V) != w*h/4 {
		*p = newPicture(w, h)
	}
	copy(p.Y, s.still.Y)
	copy(p.U, s.still.U)
	copy(p.V, s.still.V)
	t := s.seconds(i)
	for _, a := range s.actors {
		if t >= a.from && t < a.to {
			s.drawActor(p, a, t)
		}
	}
	// Noise from a different place of the table in every row of every picture, and the light of the room.
	r := rand.New(rand.NewPCG(s.o.Seed, uint64(i%s.Len())+2))
	light := int(math.Round(s.light(t) * 256))
	for y := range h {
		row := p.Y[y*w : (y+1)*w]
		at := int(r.Uint32())
		for x, l := range row {
			v := 16 + (int(l)-16)*light>>8 + int(s.noise[(at+x)&(noiseLen-1)])
			row[x] = byte(max(16, min(235, v)))
		}
	}
}

// drawActor paints a walking figure: head, body, two swinging legs and a soft shadow. It is as wide as 0.36 of its height, and
// wholly outside of the picture just before from and just after to if its path runs from edge to edge.
func (s *Scene) drawActor(p *Picture, a actor, t float64) {
	w, h := float64(s.o.Width), float64(s.o.Height)
	tall := a.depth * h
	wide := 0.36 * tall
	x := -wide/2 + a.path((t-a.from)/(a.to-a.from))*(w+wide)
	if x < -wide/2+1 { // at its edge something of it must already be seen
		x = -wide/2 + 1 + 0.02*w
	}
	feet := h * (0.70 + 0.45*a.depth*0.5)
	top := feet - tall
	swing := math.Sin(t*2*math.Pi*0.9) * 0.14 * tall

	s.ellipse(p, x+0.1*tall, feet, 0.3*tall, 0.035*tall, [3]byte{}, true)
	hip := top + 0.55*tall
	s.limb(p, x-0.03*tall, hip, x+swing, feet, 0.055*tall, a.trousers)
	s.limb(p, x+0.03*tall, hip, x-swing, feet, 0.055*tall, a.trousers)
	s.ellipse(p, x, top+0.38*tall, 0.13*tall, 0.23*tall, a.coat, false)
	s.limb(p, x, top+0.24*tall, x-swing*0.8, top+0.52*tall, 0.035*tall, a.coat)
	s.ellipse(p, x, top+0.08*tall, 0.065*tall, 0.08*tall, [3]byte{172, 112, 148}, false)
}

// ellipse fills an ellipse; a shadow darkens what is there.
func (s *Scene) ellipse(p *Picture, cx, cy, rx, ry float64, colour [3]byte, shadow bool) {
	s.fill(p, cx-rx, cy-ry, cx+rx, cy+ry, func(x, y float64) bool {
		dx, dy := (x-cx)/rx, (y-cy)/ry
		return dx*dx+dy*dy <= 1
	}, colour, shadow)
}

// limb fills a thick line.
func (s *Scene) limb(p *Picture, x0, y0, x1, y1, r float64, colour [3]byte) {
	dx, dy := x1-x0, y1-y0
	length := dx*dx + dy*dy
	s.fill(p, min(x0, x1)-r, min(y0, y1)-r, max(x0, x1)+r, max(y0, y1)+r, func(x, y float64) bool {
		f := max(0, min(1, ((x-x0)*dx+(y-y0)*dy)/length))
		ex, ey := x-x0-f*dx, y-y0-f*dy
		return ex*ex+ey*ey <= r*r
	}, colour, false)
}

// fill paints the pixels of a rectangle for which inside holds.
func (s *Scene) fill(p *Picture, left, top, right, bottom float64, inside func(x, y float64) bool, colour [3]byte, shadow bool) {
	w, h := s.o.Width, s.o.Height
	for y := max(0, int(top)); y < min(h, int(bottom)+1); y++ {
		for x := max(0, int(left)); x < min(w, int(right)+1); x++ {
			if !inside(float64(x)+0.5, float64(y)+0.5) {
				continue
			}
			l := &p.Y[y*w+x]
			if shadow {
				*l -= *l / 5
				continue
			}
			*l = colour[0]
			c := y/2*(w/2) + x/2
			p.U[c], p.V[c] = colour[1], colour[2]
		}
	}
}
