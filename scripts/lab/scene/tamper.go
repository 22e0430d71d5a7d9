package scene

import (
	"math"
	"time"

	"vmsbridge/scripts/lab/scene/figure"
	"vmsbridge/scripts/lab/scene/plate"
)

// tampers notes the truth: from when it shows at all, from when the picture is spoilt, and until
// when.
func (s *Scene) tampers(reason string, from, start, end float64) {
	d := func(t float64) time.Duration { return time.Duration(t * float64(time.Second)) }
	s.tamper = append(s.tamper, Tamper{reason, d(from), d(start), d(min(end, s.loop.Seconds()))})
}

// moment draws when the tampering begins and how long it lasts: at least 12 s, and to the end of a
// short loop.
func (s *Scene) moment() (from, to float64) {
	from = s.between(8, 12)
	return from, max(from+12, s.loop.Seconds()-s.between(0, 10))
}

// veil covers the lens with something too near to be sharp. It comes from one side, and leaves a
// share open.
func (s *Scene) veil(from, to, take, open, level float64) {
	side := s.r.IntN(4)
	seed := s.between(0, 99)
	rough := s.between(0.05, 0.35)
	s.before = append(s.before, func(t float64, f *frame) {
		k := smooth((t-from)/take) * smooth((to+take-t)/take) * (1 - open + 0.25)
		if k <= 0 {
			return
		}
		w, h := s.o.Width, s.o.Height
		ambient := level * f.whiteNow()
		// the exposure gropes for light
		if opens := 1 + min(6, 0.15/level)*smooth((t-from-take)/1.5)*smooth((to-t)/0.5); level < 0.15 {
			f.gain *= opens
			f.noise *= math.Sqrt(opens)
		}
		for y := range h {
			fy := float64(y) / float64(h)
			for x := range w {
				fx := float64(x) / float64(w)
				d := [4]float64{fx, 1 - fx, fy, 1 - fy}[side]
				d += 0.08 * plate.Noise(fx*4+seed, fy*4)
				a := smooth((k*1.25 - d) / 0.22)
				if a == 0 {
					continue
				}
				g := ambient * (1 + rough*plate.Noise(fx*3+seed+0.05*math.Sin(t), fy*3))
				p := &s.pix[y*w+x]
				*p = uint16(max(0, min(65535, float64(*p)+a*(g-float64(*p)))))
			}
		}
	})
}

// covered is a hand or a cloth before the lens.
func (s *Scene) covered() {
	from, to := s.moment()
	take, open := s.between(0.2, 1.5), 0.0
	if s.r.IntN(3) == 0 {
		open = s.between(0, 0.12)
	}
	level := s.between(0.002, 0.12)
	if s.r.IntN(4) == 0 {
		level = s.between(0.2, 0.8) // a white cloth, paper
	}
	s.veil(from, to, take, open, level)
	s.tampers("covered", from, from+take, to)
}

// sprayed is paint on the lens: spots that grow together within seconds, and stay.
func (s *Scene) sprayed() {
	from, _ := s.moment()
	take, level := s.between(1, 6), s.between(0.01, 0.5)
	cx, cy := s.between(0.3, 0.7), s.between(0.3, 0.7)
	s.before = append(s.before, func(t float64, f *frame) {
		k := smooth((t - from) / take)
		if k == 0 {
			return
		}
		w, h := s.o.Width, s.o.Height
		for y := range h {
			fy := float64(y) / float64(h)
			for x := range w {
				fx := float64(x) / float64(w)
				d := math.Hypot(fx-cx, (fy-cy)*0.6) - 0.15*plate.Noise(fx*9, fy*7) - 0.07*plate.Noise(fx*31, fy*22)
				a := 0.97 * smooth((k*1.3-d)/0.25)
				p := &s.pix[y*w+x]
				*p = uint16(max(0, min(65535, float64(*p)+a*(level*f.whiteNow()-float64(*p)))))
			}
		}
	})
	s.tampers("covered", from, from+take*0.9, s.loop.Seconds())
}

// blinded is a lamp or a laser in the lens: a core, a halo, and an exposure that closes. However
// far it does, what the lamp clips is white.
func (s *Scene) blinded() {
	from, to := s.moment()
	take, x, y := s.between(0.1, 1), s.between(0.25, 0.75), s.between(0.25, 0.75)
	core, halo, close := s.between(0.1, 0.3), s.between(0.25, 0.9), s.between(0, 0.5)
	shaky := s.between(0, 0.02)
	s.before = append(s.before, func(t float64, f *frame) {
		k := smooth((t-from)/take) * smooth((to-t)/take)
		if k <= 0 {
			return
		}
		w, h := s.o.Width, s.o.Height
		exposed := f.gain / (1 + 4*close*k)
		f.gain = 1 // from here on the clip of the 16 bits is that of the sensor
		px, py := x+shaky*plate.Noise(t*3, 1), y+shaky*plate.Noise(t*3, 7)
		for j := range h {
			for i := range w {
				dx, dy := float64(i)/float64(w)-px, (float64(j)/float64(h)-py)*9/16
				d2 := dx*dx + dy*dy
				add := plate.White * k * (3*math.Exp(-d2/(core*core)) + halo*(0.6+0.4*math.Exp(-d2/0.3)) +
					0.02/(d2+0.02))
				p := &s.pix[j*w+i]
				*p = uint16(min(65535, float64(*p)*exposed+add))
			}
		}
	})
	s.tampers("blinded", from, from+take, to-take)
}

// defocused loses the focus at once or within seconds.
func (s *Scene) defocused() {
	from, to := s.moment()
	take, soft := s.between(0.2, 0.6), s.between(0.008, 0.03)
	if s.r.IntN(2) == 0 {
		take = s.between(3, 15)
	}
	to = max(to, from+take+12)
	s.light = append(s.light, func(t float64, f *frame) {
		f.blur = max(f.blur, soft*smooth((t-from)/take)*smooth((to-t)/0.6))
	})
	s.tampers("defocused", from, from+take*0.7, to-0.6)
}

// turned shows another view, by a motor or by a hand.
func (s *Scene) turned() {
	from, _ := s.moment()
	take := s.between(0.4, 3)
	kinds := plate.Kinds()
	other, err := plate.New(kinds[s.r.IntN(len(kinds))], plate.Options{Width: s.o.Width, Height: s.o.Height,
		Seed: s.o.Seed + 1000})
	if err != nil {
		return
	}
	s.second = make([]uint16, len(other.Reflects))
	for i, v := range other.Reflects {
		s.second[i] = v >> 1
	}
	jerky := s.between(0, 0.15)
	s.before = append(s.before, func(t float64, f *frame) {
		k := smooth((t - from) / take)
		if k == 0 {
			return
		}
		k = max(0, min(1, k+jerky*math.Sin(9*k)*(1-k)*k*4))
		w, h := s.o.Width, s.o.Height
		cut := int(k * float64(w))
		weight := f.weights[0] + f.weights[1] + f.weights[2]
		for y := range h {
			row := s.pix[y*w:][:w]
			copy(row, row[cut:])
			for x := range cut {
				row[w-cut+x] = uint16(min(65535, float64(s.second[y*w+x])*weight))
			}
		}
	})
	s.tampers("turned", from, from+take, s.loop.Seconds())
}

// freezes repeats one picture, bit by bit, as a stuck encoder or a recording that is played to the
// line does.
func (s *Scene) freezes() {
	from, to := s.moment()
	s.frozen = append(s.frozen, [2]float64{from, to})
	s.tampers("frozen", from, from, to)
}

func (s *Scene) isFrozen(t float64) bool {
	for _, f := range s.frozen {
		if t >= f[0] && t < f[1] {
			return true
		}
	}
	return false
}

// truck comes, stops so close that it hides half the view, and stays.
func (s *Scene) truck() {
	from := s.between(7, 10)
	stop, leave := from+s.between(2, 4), s.loop.Seconds()-s.between(5, 8)
	car := figure.Car{Body: figure.Tone{Day: s.between(40, 220), Infra: 160}, Glass: figure.Tone{Day: 40, Infra: 30},
		Wheels: figure.Tone{Day: 20, Infra: 30}, Van: true, Seed: s.between(0, 99)}
	nose := s.between(0.5, 0.75)
	moves := func(t float64) bool { return t < stop || t > leave }
	s.actors = append(s.actors, &actor{from: from, to: leave + 3, moves: moves,
		draw: func(t float64, target *figure.Target) {
			x := nose * smooth((t-from)/(stop-from)/2) * 2
			if t >= stop {
				x = nose
			}
			if t > leave {
				x = nose + (t-leave)*(t-leave)*0.5
			}
			car.Draw(target, x, 1.05, 1.1, 1)
		}})
}
