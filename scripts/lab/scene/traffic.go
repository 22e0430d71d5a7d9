package scene

import (
	"math"

	"vmsbridge/scripts/lab/scene/figure"
)

const rushStep = 0.02 // seconds

// rush is how far the cars of a lane have come, in seconds of their usual pace: they may have to
// wait.
type rush struct {
	halt, waits float64 // from when on, and for how long; they stand from the beginning if halt is below 0
	come        []float64
}

// pace is 1 while they drive and 0 while they stand.
func (r *rush) pace(t float64) float64 {
	const brakes = 1.5 // seconds
	return 1 - smooth((t-r.halt)/brakes) + smooth((t-r.halt-r.waits)/brakes)
}

// at is how far they have come at t.
func (r *rush) at(t float64) float64 {
	for n := len(r.come); float64(n) <= t/rushStep+1; n = len(r.come) {
		if n == 0 {
			r.come = append(r.come, 0)
			continue
		}
		r.come = append(r.come, r.come[n-1]+rushStep*r.pace(float64(n)*rushStep))
	}
	i := int(t / rushStep)
	u := t/rushStep - float64(i)
	return r.come[i]*(1-u) + r.come[i+1]*u
}

// traffic is a road on which cars pass all the time: no picture is empty, not even the first, and
// now and then a lane waits.
func (s *Scene) traffic() {
	lanes := 2 + s.r.IntN(2)
	top := max(0.5, s.place.Horizon+0.22)
	for lane := range lanes {
		foot := top + (0.96-top)*(float64(lane)+s.between(0.3, 0.7))/float64(lanes)
		long := (0.1 + 0.35*(foot-s.place.Horizon)) * s.between(0.8, 1.1)
		facing := 1.0
		if lane%2 == 1 {
			facing = -1
		}
		r := &rush{halt: math.Inf(1)}
		switch s.r.IntN(4) {
		case 0: // they wait for a while
			r.halt, r.waits = s.between(8, 14), s.between(4, 10)
		case 1: // they have waited since before the first picture
			r.halt, r.waits = -5, s.between(8, 16)
		}
		speed := s.between(0.9, 1.8) * long // widths a second
		for x := 1 + long; speed > 0; x -= long * s.between(1.25, 4) {
			if x+speed*r.at(s.loop.Seconds()) < 0 {
				break
			}
			s.drive(r, x, foot, long*s.between(0.85, 1.15), facing, speed)
		}
	}
}

// drive lets one car drive in a lane: x is where its nose is at the beginning.
func (s *Scene) drive(r *rush, x, foot, long, facing, speed float64) {
	car := s.parkedCar()
	nose := func(t float64) float64 { return x + speed*r.at(t) }
	from, to := 0.0, s.loop.Seconds()
	for from < to && nose(from) < 0 {
		from += 0.1
	}
	for t := from; t < to; t += 0.1 {
		if nose(t) > 1+long {
			to = t
		}
	}
	if from >= to {
		return
	}
	s.actors = append(s.actors, &actor{from: max(0, from-0.1), to: to,
		moves: func(t float64) bool { return r.pace(t) > 0.02 }, draw: func(t float64, target *figure.Target) {
			at := nose(t)
			if facing < 0 {
				at = 1 - at
			}
			car.Draw(target, at, foot, long, facing)
		}})
}
