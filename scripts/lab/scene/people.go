package scene

import (
	"math"

	"vmsbridge/scripts/lab/scene/figure"
	"vmsbridge/scripts/lab/scene/plate"
)

// walk sends someone along a way.
func (s *Scene) walk(look figure.Look, w way) *actor {
	a := &actor{from: w.from(), to: min(w.to(), s.loop.Seconds()), moves: w.moves, look: &look, way: &w,
		draw: func(t float64, target *figure.Target) { look.Draw(target, w.pose(t)) }}
	s.actors = append(s.actors, a)
	return a
}

const faintest = 8 // grey levels from the background that walkers have at least, and more than the noise

// dress changes what someone wears until they differ from what is behind them at all of their way:
// a truth that nobody can see is none.
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

// contrast is by how many grey levels the clothes differ from what is behind them, where on the way
// it is least: the part that differs most, or in strong noise, where a part is soon lost, the mean
// of them.
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
			differs := math.Abs(s.lens.Level(float64(plate.Linear(g))*light) - s.lens.Level(
				float64(plate.Linear(s.levelAt(x, y+0.05)))*light))
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
	first := way{cadence: 0.9, shadow: 0.25,
		legs: []leg{{from: 4, long: 8, x0: -edge(0.55) + 0.02, x1: 1 + edge(0.55), y0: feet(0.55), y1: feet(0.55),
			tall0: 0.55, tall1: 0.55}}}
	second := way{cadence: 0.9, shadow: 0.25, legs: []leg{
		{from: 18, long: 4, x0: -edge(0.42) + 0.02, x1: 0.52, y0: feet(0.42), y1: feet(0.42), tall0: 0.42, tall1: 0.42},
		{from: 22, long: 4, x0: 0.52, x1: -edge(0.42), y0: feet(0.42), y1: feet(0.42), tall0: 0.42, tall1: 0.42}}}
	dark := figure.Look{Skin: figure.Tone{Day: 172, Infra: 200, U: -16, V: 20}, Hair: figure.Tone{Day: 40, Infra: 90},
		Coat:     figure.Tone{Day: 52, Infra: 120, U: 12, V: -18},
		Trousers: figure.Tone{Day: 40, Infra: 100}, Shoes: figure.Tone{Day: 25, Infra: 50}, Wide: 1, Folds: 0.15,
		Seed: 3}
	grey := dark
	grey.Coat, grey.Trousers, grey.Seed = figure.Tone{Day: 90, Infra: 150, U: -10, V: 22},
		figure.Tone{Day: 48, Infra: 90, U: 4, V: -4}, 8
	s.walk(dark, first)
	s.walk(grey, second)
	for _, a := range s.actors {
		a.all = true
	}
}

// walkers walk through, one after another; the first comes after the camera has seen the place for
// some seconds.
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
