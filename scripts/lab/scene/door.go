package scene

import (
	"vmsbridge/scripts/lab/scene/figure"
	"vmsbridge/scripts/lab/scene/plate"
)

// door lets people step out of a door, one after another; where there is none, they come as
// walkers.
func (s *Scene) door() {
	if s.place.Door[2] == 0 {
		s.walkers()
		return
	}
	for t := s.between(6, 9); t < s.loop.Seconds()-14; t += s.between(5, 10) {
		t = s.throughDoor(t)
	}
}

// throughDoor lets a door open and someone step out, who comes nearer and leaves at a side. It
// returns when they are gone.
func (s *Scene) throughDoor(t float64) float64 {
	d := s.place.Door
	aspect := float64(s.o.Width) / float64(s.o.Height)
	tall := min(0.9*(d[2]-s.place.Horizon)*s.place.Tall, 2.2*(d[1]-d[0])*aspect)
	mid := (d[0] + d[1]) / 2
	w := way{cadence: 0.95, shadow: s.between(0, 0.3), lean: s.between(-1, 1),
		legs: []leg{{from: t + 0.4, x0: mid, x1: mid, y0: d[2], y1: d[2], tall0: tall, tall1: tall}}}
	near := tall * s.between(1.05, 1.3)
	w.add(mid, d[2]+0.04, tall*1.05, 0.5, aspect)
	out := -0.25 * near / aspect
	if s.r.IntN(2) == 0 {
		out = 1 - out
	}
	w.add(out, d[2]+s.between(0.1, 0.35), near, s.between(0.65, 0.95), aspect)
	w.legs = w.legs[1:]
	leaves := w.legs[0].from + w.legs[0].long
	look := figure.Dress(s.r)
	dark := figure.Tone{Day: s.between(12, 60), Infra: 25}
	if s.r.IntN(3) == 0 {
		dark.Day = s.between(150, 230) // a lit room behind
	}
	stands := plate.Stands(d[2])
	s.actors = append(s.actors, &actor{from: t, to: min(w.to(), s.loop.Seconds()), look: &look, way: &w,
		draw: func(at float64, target *figure.Target) {
			open := smooth((at-t)/0.7) * (1 - smooth((at-leaves-0.5)/1.2))
			gap := d[0] + (d[1]-d[0])*open
			if open > 0.02 {
				target.Slab(dark, d[0], d[2]-1.05*tall, gap, d[2], stands)
			}
			if at < leaves {
				target.Left, target.Right = int(d[0]*float64(target.Width)), max(1, int(gap*float64(target.Width)))
			}
			if at >= t+0.4 {
				look.Draw(target, w.pose(at))
			}
			target.Left, target.Right = 0, 0
		}})
	return w.to()
}
