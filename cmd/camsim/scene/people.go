package scene

import (
	"math"

	"vmsbridge/cmd/camsim/scene/figure"
	"vmsbridge/cmd/camsim/scene/plate"
)

// leg is one straight piece of a way.
type leg struct {
	from, long     float64 // seconds
	x0, y0, x1, y1 float64 // the middle of the body and the soles, fractions
	tall0, tall1   float64
	still          bool // stands there
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
	return p
}

func (w *way) moves(t float64) bool { return !w.leg(t).still }

// add appends a leg that is walked at a speed in body heights a second.
func (w *way) add(x1, y1, tall1, speed, aspect float64) {
	last := w.legs[len(w.legs)-1]
	l := leg{from: last.from + last.long, x0: last.x1, y0: last.y1, tall0: last.tall1, x1: x1, y1: y1, tall1: tall1}
	mean := (l.tall0 + l.tall1) / 2
	// Along the picture, and into the depth, in heights of the picture; a step in depth shows as a change of size.
	across, deep := (x1-l.x0)*aspect, 2.5*(tall1-l.tall0)
	l.long = max(0.3, math.Hypot(across, deep)/(speed*mean))
	w.legs = append(w.legs, l)
}

func (w *way) stand(seconds float64) {
	last := w.legs[len(w.legs)-1]
	w.legs = append(w.legs, leg{from: last.from + last.long, long: seconds, x0: last.x1, x1: last.x1, y0: last.y1, y1: last.y1, tall0: last.tall1, tall1: last.tall1, still: true})
}

// walk sends someone along a way.
func (s *Scene) walk(look figure.Look, w way) *actor {
	a := &actor{from: w.from(), to: min(w.to(), s.loop.Seconds()), moves: w.moves, look: &look, way: &w,
		draw: func(t float64, target *figure.Target) { look.Draw(target, w.pose(t)) }}
	s.actors = append(s.actors, a)
	return a
}

const faintest = 8 // grey levels from the background that walkers have at least, and more than the noise

// dress changes what someone wears until they differ from what is behind them at all of their way: a truth that nobody can see
// is none.
func (s *Scene) dress(a *actor) {
	if a.look == nil || a.all {
		return
	}
	best, most := *a.look, -1.0
	for range 25 {
		if c := s.contrast(a); c > most {
			best, most = *a.look, c
		}
		if most >= max(faintest, 1.5*s.camera.Noise) {
			break
		}
		*a.look = figure.Dress(s.r)
	}
	*a.look = best
}

// contrast is by how many grey levels the clothes differ from what is behind them, where on the way it is least: the part that
// differs most, or in strong noise, where a part is soon lost, the mean of them.
func (s *Scene) contrast(a *actor) float64 {
	least := 255.0
	for _, u := range []float64{0.12, 0.3, 0.5, 0.7, 0.88} {
		t := a.from + u*(a.to-a.from)
		s.arrange(0, t)
		p := a.way.pose(t)
		x := max(0.03, min(0.97, p.X))
		most, sum, n := 0.0, 0.0, 0.0
		for _, part := range []struct {
			tone figure.Tone
			up   float64
		}{{a.look.Coat, 0.65}, {a.look.Trousers, 0.25}} {
			y := p.Feet - part.up*p.Tall
			if y > 1 {
				continue
			}
			g := part.tone.Day
			if s.frame.ir {
				g = part.tone.Infra
			}
			light := s.lightAt(x, y) * s.frame.gain
			differs := math.Abs(s.lens.Level(float64(plate.Linear(g))*light) - s.lens.Level(float64(plate.Linear(s.levelAt(x, y+0.05)))*light))
			most, sum, n = max(most, differs), sum+differs, n+1
		}
		if s.camera.Noise > 4 && n > 0 {
			most = sum / n
		}
		least = min(least, most)
	}
	return least
}

// person is the walk that always was: through the picture, and in and out again.
func (s *Scene) person() {
	feet := func(depth float64) float64 { return 0.70 + 0.225*depth }
	edge := func(tall float64) float64 { return 0.17 * tall * 9 / 16 }
	first := way{cadence: 0.9, shadow: 0.25, legs: []leg{{from: 4, long: 8, x0: -edge(0.55) + 0.02, x1: 1 + edge(0.55), y0: feet(0.55), y1: feet(0.55), tall0: 0.55, tall1: 0.55}}}
	second := way{cadence: 0.9, shadow: 0.25, legs: []leg{
		{from: 18, long: 4, x0: -edge(0.42) + 0.02, x1: 0.52, y0: feet(0.42), y1: feet(0.42), tall0: 0.42, tall1: 0.42},
		{from: 22, long: 4, x0: 0.52, x1: -edge(0.42), y0: feet(0.42), y1: feet(0.42), tall0: 0.42, tall1: 0.42}}}
	dark := figure.Look{Skin: figure.Tone{Day: 172, Infra: 200, U: -16, V: 20}, Hair: figure.Tone{Day: 40, Infra: 90}, Coat: figure.Tone{Day: 52, Infra: 120, U: 12, V: -18},
		Trousers: figure.Tone{Day: 40, Infra: 100}, Shoes: figure.Tone{Day: 25, Infra: 50}, Wide: 1, Folds: 0.15, Seed: 3}
	grey := dark
	grey.Coat, grey.Trousers, grey.Seed = figure.Tone{Day: 90, Infra: 150, U: -10, V: 22}, figure.Tone{Day: 48, Infra: 90, U: 4, V: -4}, 8
	s.walk(dark, first)
	s.walk(grey, second)
	for _, a := range s.actors {
		a.all = true
	}
}

// walkers walk through, one after another; the first comes after the camera has seen the place for some seconds.
func (s *Scene) walkers() {
	for t := s.between(6, 9); t < s.loop.Seconds()-12; t += s.between(6, 14) {
		if d := s.place.Door; d[2] > 0 && s.r.Float64() < 0.2 {
			t = s.throughDoor(t)
			continue
		}
		w := s.route(t, math.Exp(s.between(math.Log(0.24), math.Log(1.15))))
		if w.to() > s.loop.Seconds()-4 {
			if len(s.actors) > 0 {
				return
			}
		}
		s.walk(figure.Dress(s.r), w)
		t = w.to()
	}
}

// door lets people step out of a door, one after another; where there is none, they come as walkers.
func (s *Scene) door() {
	if s.place.Door[2] == 0 {
		s.walkers()
		return
	}
	for t := s.between(6, 9); t < s.loop.Seconds()-14; t += s.between(5, 10) {
		t = s.throughDoor(t)
	}
}

// throughDoor lets a door open and someone step out, who comes nearer and leaves at a side. It returns when they are gone.
func (s *Scene) throughDoor(t float64) float64 {
	d := s.place.Door
	aspect := float64(s.o.Width) / float64(s.o.Height)
	tall := min(0.9*(d[2]-s.place.Horizon)*s.place.Tall, 2.2*(d[1]-d[0])*aspect)
	mid := (d[0] + d[1]) / 2
	w := way{cadence: 0.95, shadow: s.between(0, 0.3), lean: s.between(-1, 1), legs: []leg{{from: t + 0.4, x0: mid, x1: mid, y0: d[2], y1: d[2], tall0: tall, tall1: tall}}}
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
	s.actors = append(s.actors, &actor{from: t, to: min(w.to(), s.loop.Seconds()), look: &look, way: &w, draw: func(at float64, target *figure.Target) {
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

// against is a grey level that differs from that of the place around (x, y) by at least d, to the darker side if there is room.
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
		car := figure.Car{Body: tone(20, 225), Glass: tone(20, 60), Wheels: tone(12, 30), Van: s.r.IntN(3) == 0, Seed: s.between(0, 99)}
		if s.weights[plate.Infrared] > 0 || s.weights[0] < 0.15 {
			car.Lamps = 1
		}
		long, foot, facing := s.between(0.12, 0.4), s.between(max(0.55, s.place.Horizon+0.3), 0.95), 1.0
		if s.r.IntN(2) == 0 {
			facing = -1
		}
		const seconds = 0.3
		from := t
		s.actors = append(s.actors, &actor{from: from, to: from + seconds, draw: func(t float64, target *figure.Target) {
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
		w := way{cadence: 0.9, legs: []leg{{from: t, x0: -0.2 * tall, x1: -0.2 * tall, y0: feet, y1: feet, tall0: tall, tall1: tall}}}
		w.add(1+0.2*tall, feet, tall, s.between(0.6, 0.9), aspect)
		w.legs = w.legs[1:]
		sign := 8.0
		if s.r.IntN(2) == 0 {
			sign = -8
		}
		s.actors = append(s.actors, &actor{from: w.from(), to: min(w.to(), s.loop.Seconds()), moves: w.moves, draw: func(t float64, target *figure.Target) {
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
