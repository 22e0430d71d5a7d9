package plate

import (
	"math"
	"math/rand/v2"
)

// canvas is what a place is painted on, in grey levels as an eye sees them.
type canvas struct {
	w, h       int
	r          *rand.Rand
	day, infra []float32
	lit        [lights][]float32
	depth      []uint8
	u, v       []byte
}

// paint is what a surface is like.
type paint struct {
	day, infra float64 // grey levels by day and in infrared
	grain      float64 // strength of its texture, grey levels
	scale      float64 // detail of its texture: patches across the picture
	pattern    func(x, y float64) float64
	depth      uint8   // Stands of a thing in the foreground
	u, v       float64 // colour, 0 is none
}

func newCanvas(w, h int, r *rand.Rand) *canvas {
	n := w * h
	c := &canvas{w: w, h: h, r: r, day: make([]float32, n), infra: make([]float32, n), depth: make([]uint8, n),
		u: make([]byte, n), v: make([]byte, n)}
	for k := range c.lit {
		c.lit[k] = make([]float32, n)
		for i := range c.lit[k] {
			c.lit[k][i] = 1
		}
	}
	return c
}

// between draws a number.
func (c *canvas) between(a, b float64) float64 { return a + (b-a)*c.r.Float64() }

type point struct{ x, y float64 }

// poly fills a polygon.
func (c *canvas) poly(p paint, pts ...point) {
	c.scan(pts, func(i int, x, y float64) { c.put(i, x, y, p) })
}

// rect fills a rectangle.
func (c *canvas) rect(p paint, x0, y0, x1, y1 float64) {
	c.poly(p, point{x0, y0}, point{x1, y0}, point{x1, y1}, point{x0, y1})
}

// put paints one pixel.
func (c *canvas) put(i int, x, y float64, p paint) {
	g := 0.0
	if p.grain != 0 {
		s := max(p.scale, 1)
		g = p.grain * (0.6*value(x*s, y*s*0.6) + 0.4*value(x*s*3.1+9, y*s*1.9+5))
	}
	if p.pattern != nil {
		g += p.pattern(x, y)
	}
	c.day[i] = float32(max(2, min(250, p.day+g)))
	c.infra[i] = float32(max(2, min(250, p.infra+0.7*g)))
	c.depth[i] = p.depth
	c.u[i], c.v[i] = byte(128+p.u), byte(128+p.v)
}

// shade multiplies a light within a polygon, with an edge that is soft over a fraction of the
// width.
func (c *canvas) shade(light int, factor, soft float64, pts ...point) {
	if soft <= 0 {
		c.scan(pts, func(i int, _, _ float64) { c.lit[light][i] *= float32(factor) })
		return
	}
	const steps = 5
	var mid point
	for _, p := range pts {
		mid.x += p.x / float64(len(pts))
		mid.y += p.y / float64(len(pts))
	}
	each := math.Pow(factor, 1.0/steps)
	for s := range steps { // from the outside to the inside
		out := make([]point, len(pts))
		for i, p := range pts {
			d := math.Hypot(p.x-mid.x, p.y-mid.y) + 1e-9
			k := 1 + soft*(0.5-float64(s)/steps)/d
			out[i] = point{mid.x + (p.x-mid.x)*k, mid.y + (p.y-mid.y)*k}
		}
		c.scan(out, func(i int, _, _ float64) { c.lit[light][i] *= float32(each) })
	}
}

// glow sets a light everywhere.
func (c *canvas) glow(light int, at func(x, y float64) float64) {
	for y := range c.h {
		for x := range c.w {
			c.lit[light][y*c.w+x] *= float32(at((float64(x)+0.5)/float64(c.w), (float64(y)+0.5)/float64(c.h)))
		}
	}
}

// scan visits the pixels of a polygon, even-odd.
func (c *canvas) scan(pts []point, visit func(i int, x, y float64)) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range pts {
		low, high = min(low, p.y), max(high, p.y)
	}
	var cross []float64
	for y := max(0, int(low*float64(c.h))); y < c.h && float64(y) < high*float64(c.h); y++ {
		fy := (float64(y) + 0.5) / float64(c.h)
		cross = cross[:0]
		for i, a := range pts {
			b := pts[(i+1)%len(pts)]
			if (a.y <= fy) != (b.y <= fy) {
				cross = append(cross, a.x+(fy-a.y)/(b.y-a.y)*(b.x-a.x))
			}
		}
		for i := 1; i < len(cross); i++ {
			for j := i; j > 0 && cross[j] < cross[j-1]; j-- {
				cross[j], cross[j-1] = cross[j-1], cross[j]
			}
		}
		for k := 0; k+1 < len(cross); k += 2 {
			for x := max(0, int(cross[k]*float64(c.w)+0.5)); x < c.w && float64(x)+0.5 < cross[k+1]*float64(c.w); x++ {
				visit(y*c.w+x, (float64(x)+0.5)/float64(c.w), fy)
			}
		}
	}
}

// value is smooth noise of -1..1 that changes over distances of 1.
func value(x, y float64) float64 {
	ix, iy := math.Floor(x), math.Floor(y)
	u, v := x-ix, y-iy
	u, v = u*u*(3-2*u), v*v*(3-2*v)
	a, b := int32(ix), int32(iy)
	top := hash(a, b)*(1-u) + hash(a+1, b)*u
	low := hash(a, b+1)*(1-u) + hash(a+1, b+1)*u
	return top*(1-v) + low*v
}

func hash(a, b int32) float64 {
	n := uint32(a)*0x9e3779b1 ^ uint32(b)*0x85ebca77
	n ^= n >> 15
	n *= 0x2c1b3c6d
	n ^= n >> 13
	n *= 0x297a2d39
	n ^= n >> 16
	return float64(n)/(1<<31) - 1
}

// Noise is smooth noise of -1..1 that changes over distances of 1; the same everywhere and always.
func Noise(x, y float64) float64 { return value(x, y) }

// resize averages when it makes smaller, and interpolates when it enlarges.
func resize(src []float32, w, h, W, H int) []float32 {
	dst := make([]float32, W*H)
	for y := range H {
		for x := range W {
			if w >= W {
				var sum float32
				n := 0
				for j := y * h / H; j < max((y+1)*h/H, y*h/H+1); j++ {
					for i := x * w / W; i < max((x+1)*w/W, x*w/W+1); i++ {
						sum += src[j*w+i]
						n++
					}
				}
				dst[y*W+x] = sum / float32(n)
				continue
			}
			fx, fy := (float64(x)+0.5)*float64(w)/float64(W)-0.5, (float64(y)+0.5)*float64(h)/float64(H)-0.5
			i, j := max(0, min(w-2, int(fx))), max(0, min(h-2, int(fy)))
			u, v := float32(max(0, min(1, fx-float64(i)))), float32(max(0, min(1, fy-float64(j))))
			at := src[j*w+i:]
			dst[y*W+x] = (at[0]*(1-u)+at[1]*u)*(1-v) + (at[w]*(1-u)+at[w+1]*u)*v
		}
	}
	return dst
}

// soften mixes a pixel with its neighbours.
func soften(p []float32, w, h int, soft float32) {
	row := make([]float32, w)
	for y := range h {
		copy(row, p[y*w:])
		for x := 1; x < w-1; x++ {
			p[y*w+x] = row[x]*(1-soft*0.5) + (row[x-1]+row[x+1])*soft*0.25
		}
	}
	col := make([]float32, h)
	for x := range w {
		for y := range h {
			col[y] = p[y*w+x]
		}
		for y := 1; y < h-1; y++ {
			p[y*w+x] = col[y]*(1-soft*0.5) + (col[y-1]+col[y+1])*soft*0.25
		}
	}
}
