package scene

import (
	"math"
	"slices"

	"vmsbridge/scripts/lab/scene/plate"
)

// times draws when something happens, with pauses between low and high seconds, from a first time
// on.
func (s *Scene) times(first, low, high float64) []float64 {
	var at []float64
	for t := first; t < s.loop.Seconds()-2; t += s.between(low, high) {
		at = append(at, t)
	}
	return at
}

// passed is how many of the times have passed at t, and how long ago the last one did.
func passed(at []float64, t float64) (n int, ago float64) {
	n, _ = slices.BinarySearch(at, t+1e-9)
	if n == 0 {
		return 0, math.Inf(1)
	}
	return n, t - at[n-1]
}

// smooth goes from 0 to 1 as x does.
func smooth(x float64) float64 {
	x = max(0, min(1, x))
	return x * x * (3 - 2*x)
}

// lightSwitch switches the lamps off and on. With a place of its own it is the loop that always
// was: dark from 10 s to 20 s.
func (s *Scene) lightSwitch() {
	if s.name == "light-switch" && s.o.Length == 0 {
		s.light = append(s.light, func(t float64, f *frame) {
			if t >= 10 && t < 20 {
				f.weights[0] *= 0.25
				f.weights[1] *= 0.12
			}
		})
		return
	}
	s.lamps(s.times(s.between(4, 9), 5, 22), s.r.Float64() < 0.5)
}

// lamps switches the lamps at each of the times; tubes flicker before they burn.
func (s *Scene) lamps(at []float64, tubes bool) {
	s.weights[plate.Sky] = s.between(0.08, 0.5)
	s.weights[plate.Lamp] = s.between(0.5, 1.3)
	lit := s.r.IntN(2)
	rows := make([]float64, s.o.Height)
	s.light = append(s.light, func(t float64, f *frame) {
		n, ago := passed(at, t)
		on := (n+lit)%2 == 0
		k := 1.0
		switch {
		case on && n > 0 && tubes && ago < 0.9:
			k = 0.15 + 0.85*smooth(ago/0.9)
			if plate.Noise(t*9, float64(n)) > 0.2 {
				k *= 0.4
			}
		case !on:
			k = 0.5 * math.Exp(-ago/0.04)
			if n == 0 {
				k = 0
			}
		}
		f.weights[plate.Lamp] *= k
		if ago < shutter && !tubes { // the shutter rolls: the rows that were read before still show the other light
			old := 1 / 0.35
			if on {
				old = 0.35
			}
			for y := range rows {
				rows[y] = 1 + (old-1)*(1-smooth((float64(y)/float64(len(rows))-1+ago/shutter)/0.3+0.5))
			}
			f.rows = rows
		}
	})
}

// shutter is how long the camera reads a picture, in seconds.
const shutter = 0.03

// dimmer lets lamps warm up and dim within seconds, also the day outside.
func (s *Scene) dimmer() {
	at, long := s.times(s.between(3, 8), 6, 16), s.between(0.8, 5)
	s.weights[plate.Sky] = s.between(0.2, 0.5)
	levels := make([]float64, len(at)+1)
	for i := range levels {
		levels[i] = s.between(0.1, 1.3)
	}
	s.light = append(s.light, func(t float64, f *frame) {
		n, ago := passed(at, t)
		k := levels[n]
		if n > 0 {
			k = levels[n-1] + (levels[n]-levels[n-1])*smooth(ago/long)
		}
		f.weights[plate.Lamp] *= k
	})
}

// infrared changes between day and night: it dims, the filter clicks, the lamp goes on, the
// exposure settles.
func (s *Scene) infrared() {
	at := s.times(s.between(5, 9), 9, 24)
	strong, rest, soft := s.between(0.6, 1.3), s.between(0.02, 0.15), s.between(0.0005, 0.002)
	s.exposure.tau = s.between(0.2, 0.7)
	noise := s.between(1.3, 3)
	day := s.weights
	s.light = append(s.light, func(t float64, f *frame) {
		n, ago := passed(at, t)
		night := n%2 == 1
		_, next := passed(at, t+3)
		dusk := 0.0
		if !night && next < 3 { // what the camera reacts to: someone turns the light off
			dusk = smooth((3 - (3 - next)) / 2)
		}
		for k := range 2 {
			f.weights[k] = day[k] * (1 - (1-rest)*dusk)
			if night {
				f.weights[k] = day[k] * rest
			}
		}
		if night {
			f.ir, f.noise, f.blur = true, noise, soft
			f.weights[plate.Infrared] = strong * smooth(ago/0.25)
		} else if n > 0 && ago < 0.4 {
			f.weights[plate.Infrared] = 0
		}
	})
}

// clouds pass before the sun. Their shadows are larger than most views, and as soft as the sun is
// wide: seen from a cloud it lights meters of the ground half. What drifts over the picture is an
// edge that takes a part of it, or all of it.
func (s *Scene) clouds() {
	s.weights[plate.Sky], s.weights[plate.Lamp] = s.between(0.3, 0.6), s.between(0.8, 1.4)
	size := s.between(0.8, 4)                    // of a cloud, in widths of the picture
	speed := s.between(0.03, 0.2) * (0.5 + size) // a wide view holds more and slower ones
	soft := s.between(0.15, 0.8)                 // of the edge, in widths
	if s.r.IntN(2) == 0 {
		speed = -speed
	}
	low, bias, seed := s.between(0.12, 0.45), s.between(-0.3, 0.3), s.between(0, 500)
	hard := max(0.8, size/soft)
	var field grid
	s.light = append(s.light, func(t float64, f *frame) {
		for j := range field {
			for i := range field[j] {
				x, y := float64(i)/gridWide+speed*t, float64(j)/gridHigh*0.6+0.1*speed*t
				v := plate.Noise(x/size+seed, y/size+seed) + 0.08*plate.Noise(x*3-seed, y*3)
				field[j][i] = float32(low + (1-low)*smooth(0.5+hard*0.5*(v+bias)))
			}
		}
		f.clouds = &field
	})
}

// beam is the light of a pair of headlights on what it meets: two soft lobes, cut off above,
// perhaps through the bars of a window.
type beam struct {
	x, y, rx, ry, strong float64
	bars                 float64 // across the beam, 0 for none
	phase                float64
}

func (b *beam) at(x, y float64) float64 {
	l := 0.0
	for _, side := range []float64{-0.45, 0.45} {
		u, v := (x-b.x-side*b.rx)/b.rx, (y-b.y)/b.ry
		if v < -0.35 { // the cut-off
			v = -0.35 + (v+0.35)*4
		}
		if d := u*u + v*v; d < 1 {
			l += b.strong * (1 - d) * (1 - d)
		}
	}
	if b.bars > 0 && l > 0 {
		l *= 0.25 + 0.75*smooth(0.5+4*math.Sin(b.bars*(x-b.x)+b.phase))
	}
	return l
}

func (b *beam) mean() float64 { return b.strong * b.rx * b.ry * 0.9 }

// shine adds the beam's light to the picture.
func (b *beam) shine(s *Scene, f *frame) {
	w, h := s.o.Width, s.o.Height
	reflects := s.place.Reflects
	if f.ir {
		reflects = s.place.InReflects
	}
	for y := max(0, int((b.y-b.ry)*float64(h))); y < min(h, int((b.y+b.ry)*float64(h))+1); y++ {
		for x := max(0, int((b.x-1.45*b.rx)*float64(w))); x < min(w, int((b.x+1.45*b.rx)*float64(w))+1); x++ {
			if l := b.at((float64(x)+0.5)/float64(w), (float64(y)+0.5)/float64(h)); l > 0 {
				i := y*w + x
				s.pix[i] = uint16(min(65535, float64(s.pix[i])+float64(reflects[i])*l/2))
			}
		}
	}
}

// headlights sweep over the place from time to time.
func (s *Scene) headlights() {
	type pass struct{ from, long, x0, x1, y0, y1, rx, ry, strong, bars float64 }
	var passes []pass
	for _, t := range s.times(s.between(2, 5), 4, 13) {
		p := pass{from: t, long: s.between(1.2, 6), x0: -0.4, x1: 1.4, y0: s.between(0.3, 0.8), y1: s.between(0.3, 0.8),
			rx: s.between(0.1, 0.3), ry: s.between(0.12, 0.4), strong: s.between(0.15, 1.2)}
		if s.r.IntN(2) == 0 {
			p.x0, p.x1 = p.x1, p.x0
		}
		if s.r.IntN(3) == 0 {
			p.x1 = s.between(0.2, 0.8) // turns away
		}
		if s.r.IntN(3) == 0 {
			p.bars = s.between(20, 90)
		}
		passes = append(passes, p)
	}
	s.light = append(s.light, func(t float64, f *frame) {
		for _, p := range passes {
			if u := (t - p.from) / p.long; u > 0 && u < 1 {
				k := u * u * (1.6 - 0.6*u) // faster when near
				fade := smooth(u*6) * smooth((1-u)*5)
				f.beams = append(f.beams, beam{x: p.x0 + (p.x1-p.x0)*k, y: p.y0 + (p.y1-p.y0)*k,
					rx: p.rx * (0.6 + 0.8*k), ry: p.ry * (0.6 + 0.8*k),
					strong: p.strong * fade * s.base0(), bars: p.bars, phase: 3 * k})
			}
		}
	})
}

// base0 is how bright the lights of the place are together: a beam is as strong as seen against
// them.
func (s *Scene) base0() float64 { return 0.3 + 2*(s.weights[0]+s.weights[1]+s.weights[2]) }

// flicker lets the lamps beat with the shutter: bands that wander over the picture, or all of it
// pulses.
func (s *Scene) flicker() {
	depth, bands, speed := s.between(0.03, 0.2), s.between(0.3, 3), s.between(0.2, 4)
	rows := make([]float64, s.o.Height)
	s.light = append(s.light, func(t float64, f *frame) {
		for y := range rows {
			rows[y] = 1 + depth*wave(t*speed+bands*float64(y)/float64(len(rows)), 1, 0)
		}
		f.rows = rows
	})
}

// hunting lets the autofocus search from time to time: out, and in again.
func (s *Scene) hunting() {
	at, soft := s.times(s.between(3, 8), 6, 20), s.between(0.003, 0.012)
	long := s.between(0.6, 2)
	s.light = append(s.light, func(t float64, f *frame) {
		if _, ago := passed(at, t); ago < long {
			f.blur = soft * math.Pow(math.Sin(math.Pi*ago/long), 2)
		}
	})
}
