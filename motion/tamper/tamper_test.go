package tamper_test

import (
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion/tamper"
	"vmsbridge/scripts/harness"
)

const (
	before = 24.0 // seconds of the scene as it is
	during = 15.0 // seconds of tampering
	after  = 5.0
)

// act changes the drawn picture of film f, t seconds after it began; it returns the noise.
type act struct {
	name string
	want []tamper.Reason // any of these; nil: none may be found
	slow float64         // seconds that the deed itself takes; the 10 s count from its end
	low  bool            // an encoder with little to spare: quiet places are repeated bit by bit
	do   func(f *film, t float64)
	send func(f *film, t float64, i int, last []byte) []byte // instead of the picture; nil: the picture
	rest func(f *film)                                       // afterwards; nil: all is as before
}

func ramp(t, seconds float64) float64 { return max(0, min(1, t/seconds)) }

func mix(a, b, share float64) float64 { return a + share*(b-a) }

func veil(f *film, level, opaque float64) {
	f.each(func(v, _, _ float64) float64 { return mix(v, level, opaque) })
}

var covers = []tamper.Reason{tamper.Covered}

var deeds = []act{
	{name: "hand", want: covers, do: func(f *film, t float64) {
		in := ramp(t, 0.6) * 1.15
		f.each(func(v, x, y float64) float64 {
			edge := in - x - 0.08*math.Sin(9*y+t)
			return mix(v, 55+35*x+20*y*y+3*math.Sin(t*2), max(0, min(1, edge*8)))
		})
	}},
	{name: "hand over two thirds", want: covers, do: func(f *film, t float64) {
		in := ramp(t, 0.6) * 0.72
		f.each(func(v, x, y float64) float64 {
			return mix(v, 85+30*y, max(0, min(1, (in-x)*10)))
		})
	}},
	{name: "black cloth", want: covers, do: func(f *film, t float64) { veil(f, 6, ramp(t, 0.5)) }},
	{name: "grey cloth", want: covers, do: func(f *film, t float64) {
		veil(f, 90, ramp(t, 0.8))
		f.each(func(v, x, y float64) float64 { return v + ramp(t, 0.8)*6*math.Sin(20*x+7*y) })
	}},
	{name: "see-through cloth", want: covers, do: func(f *film, t float64) { veil(f, 150, 0.75*ramp(t, 0.8)) }},
	{name: "tape", want: covers, do: func(f *film, t float64) {
		if t > 0.4 {
			f.blur(7)
			veil(f, 170, 0.7)
		}
	}},
	{name: "spray", want: covers, slow: 4, do: func(f *film, t float64) {
		n := int(ramp(t, 3) * float64(len(f.blotch)))
		for _, b := range f.blotch[:n] {
			f.blob(b[0], b[1], b[2], 35, 0.96)
		}
	}},
	{name: "white paint", want: []tamper.Reason{tamper.Covered, tamper.Blinded}, slow: 3, do: func(f *film, t float64) {
		n := int(ramp(t, 3) * float64(len(f.blotch)))
		for _, b := range f.blotch[:n] {
			f.blob(b[0], b[1], b[2], 215, 0.95)
		}
	}},
	{name: "lamp", want: []tamper.Reason{tamper.Blinded}, do: func(f *film, t float64) {
		f.each(func(v, x, y float64) float64 {
			d := (x-0.45)*(x-0.45)*3 + (y-0.5)*(y-0.5)
			return v*0.25 + 500*math.Exp(-d/0.12)
		})
	}},
	{name: "laser", want: []tamper.Reason{tamper.Blinded}, do: func(f *film, t float64) {
		f.each(func(v, x, y float64) float64 { // the exposure goes down, the spot stays, with stripes of smear
			d := (x-0.55)*(x-0.55)*3 + (y-0.45)*(y-0.45)
			return v*0.04 + 300*math.Exp(-d/0.05) + 60*math.Exp(-math.Abs(x-0.55)*8) + 20
		})
	}},
	{name: "defocus", want: []tamper.Reason{tamper.Defocused}, do: func(f *film, t float64) { f.blur(2.5) }},
	{name: "strong defocus", want: []tamper.Reason{tamper.Defocused}, do: func(f *film, t float64) { f.blur(6) }},
	{name: "gradual defocus", want: []tamper.Reason{tamper.Defocused}, slow: 8,
		do: func(f *film, t float64) { f.blur(4 * ramp(t, 8)) }},
	{name: "turned by hand", want: []tamper.Reason{tamper.Turned}, do: func(f *film, t float64) {
		f.look(260*ramp(t, 0.7), 0)
	}},
	{name: "turned a third", want: []tamper.Reason{tamper.Turned}, do: func(f *film, t float64) {
		f.look(105*ramp(t, 0.7), 10*ramp(t, 0.7))
	}},
	{name: "turned by a motor", want: []tamper.Reason{tamper.Turned}, slow: 4,
		do: func(f *film, t float64) { f.look(300*ramp(t, 4), 0) }},
	{name: "turned slowly", want: []tamper.Reason{tamper.Turned}, slow: 3,
		do: func(f *film, t float64) { f.look(260*ramp(t, 20), 0) }},
	{name: "frozen", want: []tamper.Reason{tamper.Frozen},
		send: func(_ *film, t float64, _ int, last []byte) []byte { return last }},
	{name: "frozen, encoded again", want: []tamper.Reason{tamper.Frozen},
		send: func(f *film, t float64, i int, last []byte) []byte {
			return pulse(f, i, last)
		}},
	{name: "frozen clock", want: []tamper.Reason{tamper.Frozen}, low: true,
		send: func(f *film, t float64, i int, last []byte) []byte {
			return pulse(f, i, last)
		}},
}

// pulse is what an encoder makes of one picture for ever: keyframes every two seconds.
func pulse(f *film, i int, last []byte) []byte {
	k := i / 20
	for j, v := range last {
		f.luma[j] = byte(max(0, min(255, int(v)+int(2*f.grain[(j*7+k*131)%len(f.grain)]))))
	}
	return f.luma
}

var innocents = []act{
	{name: "nothing"},
	{name: "light off", do: func(f *film, t float64) { f.light(0.35, 1.1) }},
	{name: "light nearly off", do: func(f *film, t float64) { f.light(0.12, 1) }},
	{name: "light on", do: func(f *film, t float64) { f.light(1.7, 0.8) }},
	{name: "night falls", do: func(f *film, t float64) {
		f.light(1-0.85*ramp(t, during), 1)
		f.noise = 2 + 4*ramp(t, during)
	}, rest: func(f *film) { f.noise = 2 }},
	{name: "infrared cut", do: func(f *film, t float64) {
		if t < 0.5 {
			veil(f, 240, 1)
			return
		}
		f.infrared()
	}},
	{name: "clouds", do: func(f *film, t float64) { f.light(0.75+0.25*math.Cos(t*0.6), 1) }},
	{name: "auto-exposure", do: func(f *film, t float64) { f.light(1+0.5*math.Exp(-t/2)-0.3*ramp(t, 5), 1) }},
	{name: "truck", do: func(f *film, t float64) { // seven seconds, and again
		p := math.Mod(t, 12)
		f.thing(1-p*0.3, 0.05, 1.3, 0.85, 120, 25, 40)
	}},
	{name: "person at the lens", do: func(f *film, t float64) {
		if t > 1 && t < 8 {
			f.thing(0.12+0.02*math.Sin(t*5), 0.02+0.01*math.Sin(t*3), 0.75, 1, 70, 14, 25)
		}
	}},
	{name: "parked van", do: func(f *film, t float64) { f.thing(0.3, 0.2, 0.55, 0.75, 190, 15, 50) }},
	{name: "fog", do: func(f *film, t float64) { veil(f, 170, 0.6*ramp(t, during)) }},
	{name: "rain", do: func(f *film, t float64) {
		share := ramp(t, 10)
		for range int(220 * share) {
			x, y := f.random.IntN(viewWidth), f.random.IntN(viewHeight-14)
			for k := range 12 {
				f.picture[(y+k)*viewWidth+x] += 40
			}
		}
		veil(f, 140, 0.25*share)
	}},
	{name: "headlights", do: func(f *film, t float64) {
		if t < 4 {
			f.each(func(v, x, y float64) float64 {
				return v*0.6 + 400*math.Exp(-((x-0.2*t)*(x-0.2*t)+(y-0.5)*(y-0.5))/0.02)
			})
		}
	}},
	{name: "night with infrared, quiet encoder", low: true, do: func(f *film, t float64) { f.infrared() }},
	{name: "quiet encoder", low: true},
	{name: "sway in the wind", do: func(f *film, t float64) { f.look(1.3*math.Sin(t*4), 0.7*math.Sin(t*5)) }},
	{name: "a small nudge", do: func(f *film, t float64) { f.look(2, 1) }},
	{name: "dark for a moment", do: func(f *film, t float64) {
		if t < 3 {
			veil(f, 4, 1)
		}
	}},
}

func (f *film) look(dx, dy float64) {
	f.x, f.y = f.x+dx, f.y+dy
	f.see()
	f.x, f.y = f.x-dx, f.y-dy
}

func (f *film) light(gain, gamma float64) {
	f.each(func(v, _, _ float64) float64 { return 255 * math.Pow(max(0, min(255, v*gain))/255, gamma) })
}

// infrared shows the place by the camera's own lamp: brightest in the middle, other materials
// bright.
func (f *film) infrared() {
	x0, y0 := int(f.x), int(f.y)
	f.each(func(v, x, y float64) float64 {
		m := f.infra[(y0+int(y*viewHeight))*canvasWidth+x0+int(x*viewWidth)]
		d := (x-0.5)*(x-0.5) + (y-0.55)*(y-0.55)
		return min(255, 1.1*v*m*(0.35+0.75*math.Exp(-d/0.2)))
	})
}

func (f *film) blob(x, y, radius, level, opaque float64) {
	for v := max(0, int(y-radius)); v < min(viewHeight, int(y+radius)); v++ {
		for u := max(0, int(x-radius)); u < min(viewWidth, int(x+radius)); u++ {
			d := math.Hypot(float64(u)-x, float64(v)-y) / radius
			if d < 1 {
				i := v*viewWidth + u
				f.picture[i] = mix(f.picture[i], level, opaque*min(1, 4*(1-d)))
			}
		}
	}
}

// watch runs a film of the act at a rate.
func (a act) watch(t testing.TB, seed uint64, rate, noise float64) []found {
	f := newFilm(seed, noise)
	inner, err := tamper.New(tamper.Config{})
	require.NoError(t, err)
	w := &watcher{Watch: inner}
	var last, sent []byte
	for i := 0; float64(i)/rate < before+during+after; i++ {
		at := float64(i) / rate
		deed := at >= before && at < before+during
		if deed && a.send != nil {
			w.step(picture(a.send(f, at-before, i, last), at))
			continue
		}
		f.see()
		if deed && a.do != nil {
			a.do(f, at-before)
		}
		if !deed && a.rest != nil {
			a.rest(f)
		}
		luma := f.take(f.noise)
		if a.low {
			luma = quietly(f, luma, sent, i, rate)
			sent = append(sent[:0], luma...)
		}
		last = append(last[:0], luma...)
		w.step(picture(luma, at))
	}
	w.take(w.Gap(), before+during+after)
	return w.spans
}

// quietly is what a thrifty encoder sends: keyframes every four seconds, in between only what
// changed much; and a clock.
func quietly(f *film, luma, sent []byte, i int, rate float64) []byte {
	digit := int(float64(i) / rate)
	for y := 4; y < 12; y++ {
		for x := 240; x < 248; x++ {
			luma[y*viewWidth+x] = byte(40 + 60*(digit%3) + 5*(x%3))
		}
	}
	if sent != nil && i%int(4*rate) != 0 {
		for y := 0; y < viewHeight; y += 8 {
			for x := 0; x < viewWidth; x += 8 {
				sum := 0
				for v := y; v < min(viewHeight, y+8); v++ {
					for u := x; u < x+8; u++ {
						sum += int(luma[v*viewWidth+u]) - int(sent[v*viewWidth+u])
					}
				}
				if sum < 400 && sum > -400 {
					for v := y; v < min(viewHeight, y+8); v++ {
						copy(luma[v*viewWidth+x:v*viewWidth+x+8], sent[v*viewWidth+x:])
					}
				}
			}
		}
	}
	return luma
}

// seeds is how many places a test looks at: $TAMPER_SEEDS, or as many as are quick.
func seeds(t testing.TB, usual uint64) uint64 {
	text := os.Getenv("TAMPER_SEEDS")
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 32)
	require.NoError(t, err)
	return n
}

// some is every fifth where the race detector is at work.
func some[T any](all []T) (out []T) {
	for i, v := range all {
		if !harness.Race || i%5 == 0 {
			out = append(out, v)
		}
	}
	return out
}

// Every deed is found within ten seconds, under one of its names, and ends when the view is as
// before.
func TestDeedsAreFound(t *testing.T) {
	for _, a := range some(deeds) {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			n, worst, misnamed := seeds(t, 1), 0.0, 0
			for seed := range n {
				spans := a.watch(t, seed, 5, 2)
				require.Len(t, spans, 1, "seed %d: %+v", seed, spans)
				s := spans[0]
				told := s.told - before - a.slow
				worst = max(worst, told)
				require.LessOrEqual(t, told, 10.0, "seed %d", seed)
				require.GreaterOrEqual(t, s.start, before-1.1, "seed %d", seed)
				require.LessOrEqual(t, s.ended, before+during+4.5, "seed %d: the view has been as before for long",
					seed)
				require.LessOrEqual(t, s.last, before+during+2.5, "seed %d", seed)
				if !slices.Contains(a.want, s.reason) {
					misnamed++
					t.Logf("seed %d: found as %v", seed, s.reason)
				}
			}
			t.Logf("%d of %d found, the last after %.1f s; %d under another name", n, n, worst, misnamed)
			require.LessOrEqual(t, misnamed, int(n+1)/2, "what counts is that it is found")
		})
	}
}

// What is no tampering is never found.
func TestInnocentsAreNot(t *testing.T) {
	for _, a := range some(innocents) {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds(t, 1) {
				require.Empty(t, a.watch(t, seed, 5, 2), "seed %d", seed)
			}
		})
	}
}
