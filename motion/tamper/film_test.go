package tamper_test

import (
	"math"
	"math/rand/v2"
	"time"

	"vmsbridge/motion"
	"vmsbridge/motion/tamper"
)

const (
	viewWidth, viewHeight = 320, 180
	canvasWidth           = 900 // what the camera can be turned to
	canvasHeight          = 240
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// film draws what a camera sees of a place, with something done to it. All randomness is of the
// seed.
type film struct {
	random  *rand.Rand
	canvas  []float64
	infra   []float64 // by place: how much brighter or darker it is in infrared
	picture []float64
	spare   []float64
	luma    []byte
	grain   []float64
	x, y    float64 // where the camera looks
	noise   float64 // standard deviation in grey levels
	blotch  [][3]float64
}

// newFilm draws a place: sky or ceiling, ground, houses or cupboards, posts, foliage; each seed
// another.
func newFilm(seed uint64, noise float64) *film {
	f := &film{random: rand.New(rand.NewPCG(seed, 5)), noise: noise, canvas: make([]float64, canvasWidth*canvasHeight),
		infra:   make([]float64, canvasWidth*canvasHeight),
		picture: make([]float64, viewWidth*viewHeight), spare: make([]float64, viewWidth*viewHeight),
		luma: make([]byte, viewWidth*viewHeight)}
	r := f.random
	horizon := 60 + r.Float64()*80
	sky, ground := 110+r.Float64()*100, 60+r.Float64()*80
	for y := range canvasHeight {
		for x := range canvasWidth {
			v := sky + 0.1*float64(y)
			if float64(y) > horizon {
				fx, fy := float64(x), float64(y) // no two places have the same pavement
				v = ground + 8*math.Sin(fx*0.21+fx*fx*0.0006+fy*0.33) + 5*math.Sin(fx*0.5+fx*fx*0.0004-fy*0.4)
			}
			f.canvas[y*canvasWidth+x] = v
			f.infra[y*canvasWidth+x] = 1
		}
	}
	for range 45 {
		w, h := 8+r.Float64()*90, 8+r.Float64()*70
		l, t := r.Float64()*canvasWidth-20, r.Float64()*canvasHeight-20
		level, stripe, period, ir := 20+r.Float64()*210, r.Float64()*30, 3+r.Float64()*12, 0.6+r.Float64()*0.9
		for y := max(0, int(t)); y < min(canvasHeight, int(t+h)); y++ {
			for x := max(0, int(l)); x < min(canvasWidth, int(l+w)); x++ {
				f.canvas[y*canvasWidth+x] = level + stripe*math.Sin(2*math.Pi*float64(x+y/2)/period)
				f.infra[y*canvasWidth+x] = ir
			}
		}
	}
	for range 1 << 15 {
		f.grain = append(f.grain, r.NormFloat64())
	}
	f.x, f.y = 40+r.Float64()*100, 10+r.Float64()*40
	for range 60 {
		f.blotch = append(f.blotch, [3]float64{r.Float64() * viewWidth, r.Float64() * viewHeight, 18 + r.Float64()*35})
	}
	return f
}

// see draws what the camera looks at.
func (f *film) see() {
	x0, y0 := int(f.x), int(f.y)
	fx, fy := f.x-float64(x0), f.y-float64(y0)
	for y := range viewHeight {
		a := f.canvas[(y0+y)*canvasWidth+x0:]
		b := f.canvas[(y0+y+1)*canvasWidth+x0:]
		row := f.picture[y*viewWidth : (y+1)*viewWidth]
		for x := range row {
			row[x] = (a[x]*(1-fx)+a[x+1]*fx)*(1-fy) + (b[x]*(1-fx)+b[x+1]*fx)*fy
		}
	}
}

func (f *film) each(do func(v, u, w float64) float64) {
	for i, v := range f.picture {
		f.picture[i] = do(v, float64(i%viewWidth)/viewWidth, float64(i/viewWidth)/viewHeight)
	}
}

// blur is a Gaussian of sigma pixels, as three boxes.
func (f *film) blur(sigma float64) {
	if sigma < 0.3 {
		return
	}
	soft := math.Min(1, sigma) // below a pixel, a mixture
	radius := max(1, int(math.Round((math.Sqrt(4*sigma*sigma+1)-1)/2)))
	keep := append([]float64(nil), f.picture...)
	for range 3 {
		f.box(radius, viewWidth, viewHeight, 1, viewWidth)
		f.box(radius, viewHeight, viewWidth, viewWidth, 1)
	}
	for i, v := range f.picture {
		f.picture[i] = keep[i] + soft*(v-keep[i])
	}
}

func (f *film) box(radius, length, lines, step, stride int) {
	for l := range lines {
		sum, n := 0.0, 0
		at := func(i int) float64 { return f.picture[l*stride+min(max(i, 0), length-1)*step] }
		for i := -radius; i <= radius; i++ {
			sum += at(i)
			n++
		}
		for i := range length {
			f.spare[l*stride+i*step] = sum / float64(n)
			sum += at(i+radius+1) - at(i-radius)
		}
	}
	copy(f.picture, f.spare)
}

// thing puts something with a texture of its own before the scene; all in fractions.
func (f *film) thing(left, top, width, height, level, stripe, period float64) {
	for y := max(0, int(top*viewHeight)); y < min(viewHeight, int((top+height)*viewHeight)); y++ {
		for x := max(0, int(left*viewWidth)); x < min(viewWidth, int((left+width)*viewWidth)); x++ {
			u := float64(x)/viewWidth - left
			v := float64(y)/viewHeight - top
			f.picture[y*viewWidth+x] = level + stripe*(math.Sin(u*period)+math.Sin(v*period*0.7+u*9))
		}
	}
}

// take is the picture as the camera sends it.
func (f *film) take(noise float64) []byte {
	k := f.random.IntN(len(f.grain))
	for i, v := range f.picture {
		if k++; k == len(f.grain) {
			k = f.random.IntN(len(f.grain) / 2)
		}
		f.luma[i] = byte(max(0, min(255, v+noise*f.grain[k]+0.5)))
	}
	return f.luma
}

func picture(luma []byte, at float64) motion.Picture {
	return motion.Picture{Luma: luma, Width: viewWidth, Height: viewHeight, Stride: viewWidth,
		Time: epoch.Add(time.Duration(at * float64(time.Second)))}
}

// found is a span, in seconds since the film began.
type found struct {
	reason      tamper.Reason
	told        float64 // when Began came
	start, last float64
	ended       float64 // when Ended came; 0 while it is open
	accepted    bool
}

// watcher collects spans.
type watcher struct {
	*tamper.Watch
	spans []found
}

func offset(t time.Time) float64 { return t.Sub(epoch).Seconds() }

func (w *watcher) take(changes []tamper.Change, at float64) {
	for _, c := range changes {
		if c.Kind == tamper.Began {
			w.spans = append(w.spans, found{reason: c.Reason, told: at, start: offset(c.Start)})
			continue
		}
		s := &w.spans[len(w.spans)-1]
		s.last, s.ended, s.accepted = offset(c.Last), at, c.Accepted
	}
}

func (w *watcher) step(p motion.Picture) { w.take(w.Step(p), offset(p.Time)) }
