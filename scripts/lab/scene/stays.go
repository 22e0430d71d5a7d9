package scene

import (
	"vmsbridge/scripts/lab/scene/figure"
	"vmsbridge/scripts/lab/scene/plate"
)

// parkedCar is a car as it stands in parking lots, its lamps burning by night.
func (s *Scene) parkedCar() figure.Car {
	tone := func(low, high float64) figure.Tone { g := s.between(low, high); return figure.Tone{Day: g, Infra: g} }
	car := figure.Car{Body: tone(20, 225), Glass: tone(20, 60), Wheels: tone(12, 30), Van: s.r.IntN(3) == 0,
		Seed: s.between(0, 99)}
	if s.weights[plate.Infrared] > 0 || s.weights[0] < 0.15 {
		car.Lamps = 1
	}
	return car
}

// parks lets a car come, stand there for most of the loop, and leave at its end.
func (s *Scene) parks() {
	car := s.parkedCar()
	from := s.between(6, 8)
	stop, leave := from+s.between(1.5, 3), s.loop.Seconds()-s.between(4, 6)
	long, foot, nose := s.between(0.15, 0.35), s.between(max(0.6, s.place.Horizon+0.3), 0.92), s.between(0.5, 0.85)
	s.actors = append(s.actors, &actor{from: from, to: leave + 3,
		moves: func(t float64) bool { return t < stop || t > leave }, draw: func(t float64, target *figure.Target) {
			x := nose
			if t < stop { // it brakes
				u := 1 - (t-from)/(stop-from)
				x = nose * (1 - u*u)
			}
			if t > leave {
				x += (t - leave) * (t - leave) * 0.3
			}
			car.Draw(target, x, foot, long, 1)
		}})
}

// departs lets a car leave that has stood there from the first picture on.
func (s *Scene) departs() {
	car := s.parkedCar()
	leave := s.between(8, 11)
	long, foot, nose := s.between(0.15, 0.35), s.between(max(0.6, s.place.Horizon+0.3), 0.92), s.between(0.5, 0.85)
	s.actors = append(s.actors, &actor{from: 0, to: leave + 6, moves: func(t float64) bool { return t > leave },
		draw: func(t float64, target *figure.Target) {
			x := nose
			if t > leave {
				x += (t - leave) * (t - leave) * 0.06
			}
			car.Draw(target, x, foot, long, 1)
		}})
}
