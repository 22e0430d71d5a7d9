package scene

import (
	"math"

	"vmsbridge/scripts/lab/scene/figure"
)

// leg is one straight piece of a way.
type leg struct {
	from, long     float64 // seconds
	x0, y0, x1, y1 float64 // the middle of the body and the soles, fractions
	tall0, tall1   float64
	still          bool // stands there
	sits           bool // likewise, but on a chair
}

// way is a walk through the picture.
type way struct {
	legs    []leg
	cadence float64 // double steps a second
	crawls  bool
	shadow  float64
	lean    float64
}

func (w *way) from() float64 { return w.legs[0].from }
func (w *way) to() float64   { last := w.legs[len(w.legs)-1]; return last.from + last.long }

func (w *way) leg(t float64) *leg {
	for i := range w.legs {
		if t < w.legs[i].from+w.legs[i].long {
			return &w.legs[i]
		}
	}
	return &w.legs[len(w.legs)-1]
}

// pose is that of a moment.
func (w *way) pose(t float64) figure.Pose {
	l := w.leg(t)
	u := max(0, min(1, (t-l.from)/l.long))
	p := figure.Pose{X: l.x0 + (l.x1-l.x0)*u, Feet: l.y0 + (l.y1-l.y0)*u, Tall: l.tall0 + (l.tall1-l.tall0)*u,
		Phase: t * w.cadence, Stride: 1, Shadow: w.shadow, Lean: w.lean, Crawls: w.crawls}
	dx, dd := math.Abs(l.x1-l.x0)*16/9, math.Abs(l.tall1-l.tall0)
	p.Facing = math.Copysign(min(1, dx/(dx+3*dd+1e-6)), l.x1-l.x0)
	if l.still {
		p.Stride, p.Facing = 0, 0.3
		p.Sway = wave(t, 3.7, 0) + 0.5*wave(t, 1.3, 0.3)
	}
	if l.sits {
		p.Sits, p.Facing, p.Sway = true, 0.8, 0.5*wave(t, 11, 0)+0.2*wave(t, 2.9, 0.3)
	}
	return p
}

func (w *way) moves(t float64) bool { return !w.leg(t).still }

// add appends a leg that is walked at a speed in body heights a second.
func (w *way) add(x1, y1, tall1, speed, aspect float64) {
	last := w.legs[len(w.legs)-1]
	l := leg{from: last.from + last.long, x0: last.x1, y0: last.y1, tall0: last.tall1, x1: x1, y1: y1, tall1: tall1}
	mean := (l.tall0 + l.tall1) / 2
	// Along the picture, and into the depth, in heights of the picture; a step in depth shows as a
	// change of size.
	across, deep := (x1-l.x0)*aspect, 2.5*(tall1-l.tall0)
	l.long = max(0.3, math.Hypot(across, deep)/(speed*mean))
	w.legs = append(w.legs, l)
}

func (w *way) stand(seconds float64) {
	last := w.legs[len(w.legs)-1]
	w.legs = append(w.legs, leg{from: last.from + last.long, long: seconds, x0: last.x1, x1: last.x1, y0: last.y1,
		y1: last.y1, tall0: last.tall1, tall1: last.tall1, still: true})
}

// route draws a way for someone of a height, beginning at t.
func (s *Scene) route(t, tall float64) way {
	aspect := float64(s.o.Width) / float64(s.o.Height)
	feet := max(s.place.Horizon+0.35, s.between(0.72, 1.0))
	if tall > 0.8 {
		feet = s.between(1.0, 1.15)
	}
	edge := 0.22 * tall / aspect
	speed := s.between(0.65, 0.95)
	if s.r.IntN(10) == 0 {
		speed = s.between(1.3, 2.2) // runs
	}
	w := way{cadence: speed * s.between(1.05, 1.25), shadow: s.between(0, 0.4), lean: s.between(-1, 1)}
	begin := func(x, y, tall float64) {
		w.legs = []leg{{from: t, x0: x, x1: x, y0: y, y1: y, tall0: tall, tall1: tall}}
	}
	left, right := -edge, 1+edge
	if s.r.IntN(2) == 0 {
		left, right = right, left
	}
	kind, pauses := s.r.Float64(), s.r.Float64() < 0.3
	if kind >= 0.6 && kind < 0.8 || pauses {
		speed = min(speed, 0.95) // nobody runs from a standstill
	}
	switch {
	case kind < 0.6: // across
		begin(left, feet, tall)
		if pauses { // and stands for a while
			w.add(s.between(0.25, 0.75), feet, tall, speed, aspect)
			w.stand(s.between(2, 6))
		}
		w.add(right, feet, tall, speed, aspect)
	case kind < 0.8: // comes in, turns round, leaves
		begin(left, feet, tall)
		w.add(s.between(0.3, 0.7), feet, tall, speed, aspect)
		w.stand(s.between(0.3, 1))
		w.add(left, feet, tall, speed, aspect)
	default: // slanting, nearer or further
		begin(left, feet, tall)
		small := tall * s.between(0.5, 0.8)
		w.add(s.between(0.3, 0.7), feet-0.15, small, speed, aspect)
		w.add(right, feet-0.1, small*1.1, speed, aspect)
	}
	// The first leg has no length: it only says where the way begins.
	w.legs = w.legs[1:]
	return w
}
