package scene

import (
	"math"
	"math/rand/v2"

	"vmsbridge/scripts/lab/scene/plate"
)

// speck blends a soft line into the picture: a drop or an insect that moved while the shutter was
// open. All is in pixels; level is radiance, cover how opaque its middle is.
func (s *Scene) speck(x0, y0, x1, y1, r, level, cover float64) {
	w, h := s.o.Width, s.o.Height
	dx, dy := x1-x0, y1-y0
	long := dx*dx + dy*dy + 1e-9
	for y := max(0, int(min(y0, y1)-r)); y <= min(h-1, int(max(y0, y1)+r)); y++ {
		for x := max(0, int(min(x0, x1)-r)); x <= min(w-1, int(max(x0, x1)+r)); x++ {
			ex, ey := float64(x)+0.5-x0, float64(y)+0.5-y0
			k := max(0, min(1, (ex*dx+ey*dy)/long))
			ex, ey = ex-k*dx, ey-k*dy
			d := (ex*ex + ey*ey) / (r * r)
			if d >= 1 {
				continue
			}
			c := cover * (1 - d) * (1 - d)
			p := &s.pix[y*w+x]
			*p = uint16(max(0, min(65535, float64(*p)+c*(level-float64(*p)))))
		}
	}
}

// whiteNow is the radiance that the exposure shows as white.
func (f *frame) whiteNow() float64 { return plate.White / max(0.01, f.gain) }

// rain falls: streaks, splashes on the ground, and now and then a drop on the lens that runs down.
func (s *Scene) rain() {
	s.weights[plate.Lamp] *= 0.1
	count, long, slant := int(s.between(25, 180)), s.between(0.03, 0.13), s.between(-0.25, 0.25)
	bright := s.between(0.25, 0.7)
	splashes := s.r.IntN(60)
	ground := s.place.Horizon + 0.3
	type drop struct{ from, long, x, y, r, run, level float64 }
	var drops []drop
	if s.r.Float64() < 0.6 {
		for _, t := range s.times(s.between(0, 6), 2, 15) {
			drops = append(drops, drop{t, s.between(3, 20), s.between(0, 1), s.between(0, 0.8), s.between(0.006, 0.028),
				s.between(-0.03, 0.05), s.between(0.2, 0.8)})
		}
	}
	s.before = append(s.before, func(t float64, f *frame) {
		r := rand.New(rand.NewPCG(s.o.Seed, uint64(f.number)+0x5a1a))
		w, h := float64(s.o.Width), float64(s.o.Height)
		white := f.whiteNow()
		for range count {
			near := math.Pow(r.Float64(), 2) // few are near: long, broad, soft
			x, y, l := r.Float64()*w, (r.Float64()*1.2-0.1)*h, long*(0.4+1.3*near)*h
			s.speck(x, y, x+slant*l, y+l, max(0.7, (0.0016+0.003*near)*w), white*bright,
				(0.1+0.35*r.Float64())*(1-0.5*near))
		}
		for range splashes {
			x, y := r.Float64()*w, (ground+(1-ground)*r.Float64())*h
			s.speck(x-0.002*w, y, x+0.002*w, y, max(0.8, 0.003*w), white*bright, 0.3*r.Float64())
		}
		for _, d := range drops {
			if u := (t - d.from) / d.long; u > 0 && u < 1 {
				y := d.y + max(0, d.run)*max(0, t-d.from-1.5)
				k := min(1, 6*u) * min(1, 6*(1-u))
				s.speck(d.x*w, y*h, d.x*w, y*h+0.3*d.r*w, d.r*w, white*d.level*0.6, 0.5*k)
				s.speck(d.x*w, (y+d.r)*h, d.x*w, (y+d.r)*h, d.r*w*0.6, white*(0.3+0.5*d.level), 0.35*k)
			}
		}
	})
}

// snow falls in flakes that are followed from picture to picture; those near the lens are large and
// soft.
func (s *Scene) snow() {
	s.weights[plate.Lamp] *= 0.15
	type flake struct{ x, y, fall, drift, r, phase, cover float64 }
	flakes := make([]flake, int(s.between(60, 350)))
	wind := s.between(-0.15, 0.15)
	for i := range flakes {
		near := math.Pow(s.r.Float64(), 3)
		flakes[i] = flake{s.between(0, 1), s.between(0, 1), (0.15 + 0.6*near) * s.between(0.8, 1.3),
			wind * (0.5 + near), 0.0016 + 0.012*near, s.between(0, 9), 0.75 - 0.55*near}
	}
	s.before = append(s.before, func(t float64, f *frame) {
		w, h := float64(s.o.Width), float64(s.o.Height)
		for _, k := range flakes {
			x := k.x + k.drift*t + 0.015*math.Sin(1.7*t+k.phase)
			y := k.y + k.fall*t
			x, y = (x-math.Floor(x))*w, ((y-math.Floor(y))*1.1-0.05)*h
			s.speck(x, y, x, y+k.fall*0.02*h, max(0.7, k.r*w), f.whiteNow()*0.85, k.cover)
		}
	})
}

// insects fly through the beam of the infrared lamp: bright, blurred, fast; a few close to the lens
// are large.
func (s *Scene) insects() {
	s.weights = [3]float64{s.between(0, 0.05), s.between(0, 0.04), s.between(0.6, 1.2)}
	type flight struct{ from, long, x, y, vx, vy, curl, beat, r, cover float64 }
	var flights []flight
	pause := s.between(0.3, 4)
	for t := s.between(1, 3); t < s.loop.Seconds(); t += pause * (0.3 + 1.4*s.r.Float64()) {
		// Something of 5 mm that flies a meter a second: close to the lens it is a large soft blob
		// and gone at once, three meters away a dot that takes seconds.
		near := math.Pow(s.r.Float64(), 3)
		speed := s.between(0.3, 0.7) * (0.6 + 4*near)
		way := s.between(0, 2*math.Pi)
		flights = append(flights, flight{t, s.between(0.3, 2.5), s.between(0, 1), s.between(0, 1),
			speed * math.Cos(way), speed * math.Sin(way),
			s.between(-0.25, 0.25), s.between(2, 7), 0.002 + 0.03*near, 0.95 - 0.65*near})
	}
	at := func(k flight, t float64) (x, y float64) {
		u := t - k.from
		return k.x + k.vx*u + k.curl*0.4*math.Sin(k.beat*u*2), k.y + k.vy*u + k.curl*0.6*math.Sin(k.beat*u*2.7+1)
	}
	shutter := s.between(0.015, 0.04)
	s.before = append(s.before, func(t float64, f *frame) {
		w, h := float64(s.o.Width), float64(s.o.Height)
		for _, k := range flights {
			if t < k.from || t > k.from+k.long {
				continue
			}
			x0, y0 := at(k, t)
			x1, y1 := at(k, t+shutter)
			fade := min(1, 5*(t-k.from)) * min(1, 5*(k.from+k.long-t)) // into the beam and out of it
			s.speck(x0*w, y0*h, x1*w, y1*h, max(0.8, k.r*w), f.whiteNow()*1.1, k.cover*fade)
		}
	})
}

// fog takes the contrast of what is far, within minutes, and gives it back.
func (s *Scene) fog() {
	period, most, phase := s.between(60, 240), s.between(0.3, 0.7), s.between(0, 1)
	s.before = append(s.before, func(t float64, f *frame) {
		k := most * (0.5 + 0.5*wave(t, period, phase))
		level := uint64(f.whiteNow() * 0.45)
		for y := range s.o.Height {
			far := 1 - 0.6*smooth((float64(y)/float64(s.o.Height)-s.place.Horizon)/(1-s.place.Horizon))
			a := uint64(256 * k * far)
			row := s.pix[y*s.o.Width:][:s.o.Width]
			for x, v := range row {
				row[x] = uint16((uint64(v)*(256-a) + level*a) >> 8)
			}
		}
	})
}
