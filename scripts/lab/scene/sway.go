package scene

import (
	"math"

	"vmsbridge/scripts/lab/scene/plate"
)

// gusts is the strength of the wind, 0 to about 1: calm moments, and gusts of some seconds.
func gusts(t, seed float64) float64 {
	g := 0.35 + 0.5*plate.Noise(t*0.22, seed) + 0.3*plate.Noise(t*0.7, seed+31)
	return max(0.03, g)
}

// tree lets the place's tree sway: the whole of it slowly, branches faster, leaves flutter.
func (s *Scene) tree() {
	layer := s.place.Tree
	strong, seed := s.between(0.004, 0.022), s.between(0, 99)
	light, columns := make([]uint64, gridWide+1), make([]float64, s.o.Width)
	for x := range columns {
		columns[x] = math.Sin(float64(x) / float64(s.o.Width) * 23)
	}
	leaves := flutter{step: max(2, float64(s.o.Width)/160)}
	s.scenic = append(s.scenic, func(t float64, f *frame) {
		w, h := s.o.Width, s.o.Height
		reflects := layer.Reflects
		if f.ir {
			reflects = layer.InReflects
		}
		g := gusts(t, seed) * strong * float64(w)
		margin := int(3*g) + 2
		high := float64(max(1, layer.Bottom-layer.Top))
		leaves.t, leaves.prepared = t, false
		lean := g * (0.6 + 0.5*wave(t, 2.3, 0))
		for y := max(0, layer.Top-margin); y < min(h, layer.Bottom+margin); y++ {
			up := max(0, min(1, float64(layer.Bottom-y)/high))
			fy := float64(y) / float64(h)
			for i := range light {
				light[i] = uint64(s.lightAt(float64(i)/gridWide, fy) * 4096)
			}
			base := lean * up * up
			// Branches sway as bands that have their own phase; leaves flutter in small patches.
			branch := 0.5 * g * up * math.Sin(4.1*t+fy*19)
			for x := max(0, layer.Left-margin); x < min(w, layer.Right+margin); x++ {
				patch := leaves.at(float64(x), float64(y), float64(w), float64(h))
				sx := float64(x) - base - branch*columns[x] - 0.45*g*patch
				sy := float64(y) - 0.25*g*patch
				ix, iy := int(math.Floor(sx)), int(math.Floor(sy))
				if ix < layer.Left || iy < layer.Top || ix+1 >= min(w, layer.Right+1) ||
					iy+1 >= min(h, layer.Bottom+1) {
					continue
				}
				k := iy*w + ix
				u, v := uint64((sx-float64(ix))*16), uint64((sy-float64(iy))*16)
				a, b, c, d := (16-u)*(16-v)*uint64(layer.Alpha[k]), u*(16-v)*uint64(layer.Alpha[k+1]),
					(16-u)*v*uint64(layer.Alpha[k+w]), u*v*uint64(layer.Alpha[k+w+1])
				alpha := a + b + c + d // of 255*256
				if alpha == 0 {
					continue
				}
				level := (a*uint64(reflects[k]) + b*uint64(reflects[k+1]) + c*uint64(reflects[k+w]) +
					d*uint64(reflects[k+w+1])) / alpha
				level = level * light[min(gridWide, x*gridWide/w)] >> 12
				p := &s.pix[y*w+x]
				*p = uint16(min(65535, (uint64(*p)*(255*256-alpha)+level*alpha)/(255*256)))
			}
		}
	})
}

// flutter is how leaves move in patches, worked out for every other pixel or so and interpolated in
// between.
type flutter struct {
	t, step  float64
	row      int // of above
	above    []float64
	below    []float64
	prepared bool
}

// at is the flutter at a pixel; rows must come in order.
func (l *flutter) at(x, y, w, h float64) float64 {
	j := int(y / l.step)
	if !l.prepared || j != l.row {
		n := int(w/l.step) + 2
		line := func(dst []float64, j int) []float64 {
			dst = dst[:0]
			for i := range n {
				dst = append(dst, plate.Noise(float64(i)*l.step/w*38+l.t*2.2, float64(j)*l.step/h*26-l.t*1.7))
			}
			return dst
		}
		if l.prepared && j == l.row+1 {
			l.above, l.below = l.below, line(l.above, j+1)
		} else {
			l.above, l.below = line(l.above, j), line(l.below, j+1)
		}
		l.row, l.prepared = j, true
	}
	i := int(x / l.step)
	u, v := x/l.step-float64(i), y/l.step-float64(j)
	return (l.above[i]*(1-u)+l.above[i+1]*u)*(1-v) + (l.below[i]*(1-u)+l.below[i+1]*u)*v
}

// flag flaps on a pole: stripes that run along it.
func (s *Scene) flag() {
	x0, y0 := s.between(0.1, 0.8), s.between(0.05, 0.3)
	wide, high, seed := s.between(0.06, 0.14), s.between(0.08, 0.16), s.between(0, 99)
	dark, light := s.between(30, 90), s.between(120, 220)
	s.scenic = append(s.scenic, func(t float64, f *frame) {
		w, h := float64(s.o.Width), float64(s.o.Height)
		g := gusts(t, seed)
		for x := max(0, int(x0*w)); x < min(s.o.Width, int((x0+wide)*w)); x++ {
			u := (float64(x)/w - x0) / wide
			sag := high * (0.8 * (1 - min(1, 1.3*g)) * u)
			lift := high * 0.3 * u * math.Sin(9*u-t*(4+8*g)) * (0.3 + g)
			bright := 1 + 0.3*u*math.Cos(9*u-t*(4+8*g))
			for y := max(0, int((y0+sag+lift)*h)); y < min(s.o.Height, int((y0+sag+lift+high)*h)); y++ {
				v := (float64(y)/h - y0 - sag - lift) / high
				tone := dark
				if int(v*3)%2 == 1 {
					tone = light
				}
				s.pix[y*s.o.Width+x] = uint16(min(65535, float64(plate.Linear(tone))*bright*s.lightAt(float64(x)/w,
					y0)))
			}
		}
	})
}

// water glitters and ripples within the place's water, or where the ground is lowest.
func (s *Scene) water() {
	area := s.place.Water
	if area == [4]float64{} {
		area = [4]float64{s.between(0, 0.3), 0.75, s.between(0.5, 1), 0.97}
	}
	speed, strong := s.between(0.5, 2.5), s.between(0.1, 0.5)
	s.scenic = append(s.scenic, func(t float64, f *frame) {
		w, h := s.o.Width, s.o.Height
		for y := max(0, int(area[1]*float64(h))); y < min(h, int(area[3]*float64(h))); y++ {
			fy := float64(y) / float64(h)
			for x := max(0, int(area[0]*float64(w))); x < min(w, int(area[2]*float64(w))); x++ {
				fx := float64(x) / float64(w)
				a := plate.Noise(fx*34+t*speed, fy*110-t*speed*1.3) + plate.Noise(fx*55-t*speed*0.8, fy*160+t*speed)
				k := 1 + strong*a
				if a > 1.1 {
					k += 3 * (a - 1.1) // glitter
				}
				p := &s.pix[y*w+x]
				*p = uint16(max(0, min(65535, float64(*p)*0.8*k)))
			}
		}
	})
}

// shake is the wind on the camera's mast.
func (s *Scene) shake() {
	strong, seed := s.between(0.0008, 0.004), s.between(0, 99)
	fast := s.between(2, 7)
	s.light = append(s.light, func(t float64, f *frame) {
		g := strong * gusts(t, seed)
		f.dx += g * plate.Noise(t*fast, seed)
		f.dy += 0.7 * g * plate.Noise(t*fast*1.2, seed+50)
	})
}
