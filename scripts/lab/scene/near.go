package scene

import (
	"math"

	"vmsbridge/scripts/lab/scene/figure"
)

// nearing lets people walk up to the camera, one after another, look into it for some seconds, and
// leave: they hide up to half of the view, and move all the time.
func (s *Scene) nearing() {
	aspect := float64(s.o.Width) / float64(s.o.Height)
	for t := s.between(6, 12); t < s.loop.Seconds()-16; t += s.between(6, 20) {
		tall, near := s.between(0.4, 0.8), s.between(1.4, 3.4)
		feet, edge := s.between(0.8, 1), 0.22*tall/aspect
		in, out := -edge, -edge
		if s.r.IntN(2) == 0 {
			in = 1 + edge
		}
		if s.r.IntN(2) == 0 {
			out = 1 + edge
		}
		w := way{cadence: s.between(0.8, 1.1), lean: s.between(-1, 1),
			legs: []leg{{from: t, x0: in, x1: in, y0: feet, y1: feet, tall0: tall, tall1: tall}}}
		x, head := s.between(0.3, 0.7), s.between(0.05, 0.25)
		w.add(s.between(0.3, 0.7), feet, tall, s.between(0.65, 0.95), aspect)
		w.add(x, head+near, near, s.between(0.7, 1.2), aspect)
		w.stand(s.between(1, 9))
		w.add(out, feet, tall, s.between(0.7, 1.2), aspect)
		w.legs = w.legs[1:]
		if w.to() > s.loop.Seconds()-2 {
			return
		}
		s.walk(figure.Dress(s.r), w)
		t = w.to()
	}
}

// crowd is several people at once, some of them close: they cross, stand about, and leave.
func (s *Scene) crowd() {
	for t := s.between(6, 9); t < s.loop.Seconds()-25; t += s.between(12, 25) {
		for range 3 + s.r.IntN(6) {
			w := s.route(t+s.between(0, 8), math.Exp(s.between(math.Log(0.4), math.Log(1.6))))
			if w.to() < s.loop.Seconds()-2 {
				s.walk(figure.Dress(s.r), w)
			}
		}
	}
}
