package scene

import (
	"math"

	"vmsbridge/scripts/lab/scene/figure"
)

// sits lets somebody come, sit down, stay nearly still for most of the loop, and leave at its end.
func (s *Scene) sits() {
	aspect := float64(s.o.Width) / float64(s.o.Height)
	tall, feet := s.between(0.5, 0.9), s.between(0.82, 0.98)
	edge := 0.22 * tall / aspect
	from, leave := s.between(6, 9), s.loop.Seconds()-s.between(7, 9)
	in, out, seat, speed := -edge, 1+edge, s.between(0.25, 0.75), s.between(0.7, 0.95)
	if s.r.IntN(2) == 0 {
		in, out = out, in
	}
	w := way{cadence: 0.95, shadow: s.between(0, 0.4), lean: s.between(-1, 1),
		legs: []leg{{from: from, x0: in, x1: in, y0: feet, y1: feet, tall0: tall, tall1: tall}}}
	w.add(seat, feet, tall, speed, aspect)
	w.stand(max(3, leave-w.to()))
	w.legs[len(w.legs)-1].sits = true
	w.add(out, feet, tall, max(speed, math.Abs(out-seat)*aspect/(6*tall)), aspect)
	w.legs = w.legs[1:]
	s.walk(figure.Dress(s.r), w)
}
