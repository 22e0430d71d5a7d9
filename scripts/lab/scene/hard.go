package scene

import (
	"math"

	"vmsbridge/scripts/lab/scene/figure"
	"vmsbridge/scripts/lab/scene/plate"
)

// What is hard to see: slow, small, fast, faint, or there as the light changes.

// crawler crawls through slowly.
func (s *Scene) crawler() {
	aspect := float64(s.o.Width) / float64(s.o.Height)
	tall := s.between(0.35, 0.7)
	feet := s.between(0.75, 0.97)
	w := way{cadence: 0.35, crawls: true, shadow: s.between(0, 0.3)}
	edge := 0.45 * tall / aspect
	w.legs = []leg{{from: s.between(6, 9), x0: -edge, x1: -edge, y0: feet, y1: feet, tall0: tall, tall1: tall}}
	w.add(1+edge, feet, tall, s.between(0.12, 0.3), aspect)
	w.legs = w.legs[1:]
	s.walk(figure.Dress(s.r), w)
}

// far is someone of 0.1 % of the picture.
func (s *Scene) far() {
	aspect := float64(s.o.Width) / float64(s.o.Height)
	for t := s.between(6, 9); t < s.loop.Seconds()-10; t += s.between(6, 10) {
		feet := s.between(s.place.Horizon+0.4, 0.9)
		tall := 0.105 * math.Sqrt(aspect*9/16)
		w := way{cadence: 1, legs: []leg{{from: t, x0: -0.01, x1: -0.01, y0: feet, y1: feet, tall0: tall, tall1: tall}}}
		w.add(s.between(0.3, 1.01), feet, tall, s.between(0.7, 1), aspect)
		w.legs = w.legs[1:]
		w.legs[0].long = min(w.legs[0].long, s.loop.Seconds()-4-t)
		g := s.against(0.5, feet, 70)
		s.walk(figure.Plain(figure.Tone{Day: g, Infra: g}), w).look = nil
		t = w.to()
	}
}

// against is a grey level that differs from that of the place around (x, y) by at least d, to the
// darker side if there is room.
func (s *Scene) against(x, y, d float64) float64 {
	level := s.levelAt(x, y)
	if level-d > 15 {
		return level - d
	}
	return level + d
}

// levelAt is the grey level of the place around a point, without its light.
func (s *Scene) levelAt(x, y float64) float64 {
	w, h := s.o.Width, s.o.Height
	reflects := s.place.Reflects
	if s.frame.ir {
		reflects = s.place.InReflects
	}
	sum, n := 0.0, 0
	step := max(1, w/320)
	for j := int((y - 0.1) * float64(h)); j < int(y*float64(h)); j += step {
		for i := int((x - 0.04) * float64(w)); i < int((x+0.04)*float64(w)); i += step {
			if i >= 0 && i < w && j >= 0 && j < h {
				sum += float64(reflects[j*w+i])
				n++
			}
		}
	}
	if n == 0 {
		return 128
	}
	return 235 * math.Pow(sum/float64(n)/plate.White, 1/2.2)
}

// passing is a car that is seen for 0.3 s.
func (s *Scene) passing() {
	for t := s.between(6, 9); t < s.loop.Seconds()-5; t += s.between(6, 12) {
		tone := func(low, high float64) figure.Tone { g := s.between(low, high); return figure.Tone{Day: g, Infra: g} }
		car := figure.Car{Body: tone(20, 225), Glass: tone(20, 60), Wheels: tone(12, 30), Van: s.r.IntN(3) == 0,
			Seed: s.between(0, 99)}
		if s.weights[plate.Infrared] > 0 || s.weights[0] < 0.15 {
			car.Lamps = 1
		}
		long, foot, facing := s.between(0.12, 0.4), s.between(max(0.55, s.place.Horizon+0.3), 0.95), 1.0
		if s.r.IntN(2) == 0 {
			facing = -1
		}
		const seconds = 0.3
		from := t
		s.actors = append(s.actors, &actor{from: from, to: from + seconds,
			draw: func(t float64, target *figure.Target) {
				u := 0.06 + (t-from)/seconds*0.94
				x := u * (1 + long)
				if facing < 0 {
					x = 1 - x
				}
				car.Draw(target, x, foot, long, facing)
			}})
	}
}

// faint is someone whose clothes are 8 grey levels from what is behind, wherever that is.
func (s *Scene) faint() {
	aspect := float64(s.o.Width) / float64(s.o.Height)
	for t := s.between(6, 9); t < s.loop.Seconds()-10; t += s.between(6, 10) {
		tall, feet := s.between(0.35, 0.8), s.between(0.75, 1)
		w := way{cadence: 0.9, legs: []leg{{from: t, x0: -0.2 * tall, x1: -0.2 * tall, y0: feet, y1: feet, tall0: tall,
			tall1: tall}}}
		w.add(1+0.2*tall, feet, tall, s.between(0.6, 0.9), aspect)
		w.legs = w.legs[1:]
		sign := 8.0
		if s.r.IntN(2) == 0 {
			sign = -8
		}
		s.actors = append(s.actors, &actor{from: w.from(), to: min(w.to(), s.loop.Seconds()), moves: w.moves,
			draw: func(t float64, target *figure.Target) {
				p := w.pose(t)
				g := s.levelAt(p.X, p.Feet-0.3*tall) + sign
				look := figure.Plain(figure.Tone{Day: g, Infra: g})
				look.Draw(target, p)
			}})
		t = w.to()
	}
}

// entry is someone who comes in as the light goes on.
func (s *Scene) entry() {
	at := s.between(7, 12)
	s.lamps([]float64{at}, s.r.IntN(2) == 0)
	s.weights[plate.Sky] = s.between(0.1, 0.3)
	for s.lampsOn() {
		s.light = s.light[:len(s.light)-1]
		s.lamps([]float64{at}, s.r.IntN(2) == 0)
		s.weights[plate.Sky] = s.between(0.1, 0.3)
	}
	s.walk(figure.Dress(s.r), s.route(at+s.between(-0.6, 0.6), s.between(0.4, 0.9)))
}

// lampsOn tells whether the lamps burn at the beginning.
func (s *Scene) lampsOn() bool {
	s.arrange(0, 0)
	return s.frame.weights[plate.Lamp] > 0
}
