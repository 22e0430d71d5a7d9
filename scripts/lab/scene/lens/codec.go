package lens

import "math"

// codec imitates what hybrid coding at a low rate does: keyframes render everything anew, softer or
// harder than before; in between, blocks that hardly differ are skipped, so that the noise stands
// still there, and others are corrected coarsely.
type codec struct {
	o        Options
	kept     []byte
	started  bool
	cos      [8][8]float32
	fine     float32 // quantisation step at the lowest frequency
	skip     int     // sum of differences in a block below which it is skipped
	in, coef [64]float32
}

const side = 8 // of a block

func newCodec(o Options) codec {
	c := codec{o: o, kept: make([]byte, o.Width*o.Height), fine: float32(o.Quality)}
	for k := range side {
		n := math.Sqrt(2.0 / side)
		if k == 0 {
			n = math.Sqrt(1.0 / side)
		}
		for x := range side {
			c.cos[k][x] = float32(n * math.Cos((float64(x)+0.5)*float64(k)*math.Pi/side))
		}
	}
	return c
}

func (c *codec) encode(number int, dst []byte) {
	key := !c.started || c.o.GOP <= 1 || number%c.o.GOP == 0
	c.started = true
	if key { // rate control: each group of pictures gets another quality
		n := uint32(number/max(1, c.o.GOP))*2654435761 ^ uint32(c.o.Seed)*40503
		n ^= n >> 13
		c.fine = float32(c.o.Quality * (0.85 + 0.3*float64(n%256)/256))
	}
	c.skip = int(64 * (1.2 + 0.28*float64(c.fine)))
	w, h := c.o.Width, c.o.Height
	for by := 0; by < h; by += side {
		for bx := 0; bx < w; bx += side {
			c.block(dst, bx, by, min(side, w-bx), min(side, h-by), key)
		}
	}
}

// block codes one block and leaves the result in dst and kept.
func (c *codec) block(dst []byte, bx, by, bw, bh int, key bool) {
	w := c.o.Width
	sum := 0
	for y := range bh {
		a, b := dst[(by+y)*w+bx:][:bw], c.kept[(by+y)*w+bx:][:bw]
		for x, v := range a {
			d := int(v) - int(b[x])
			if key {
				d = int(v) - 128
			}
			c.in[y*side+x] = float32(d)
			sum += max(d, -d)
		}
		for x := bw; x < side; x++ {
			c.in[y*side+x] = c.in[y*side+bw-1]
		}
	}
	for y := bh; y < side; y++ {
		copy(c.in[y*side:y*side+side], c.in[(bh-1)*side:])
	}
	if !key && sum < c.skip*bw*bh/(side*side) {
		for y := range bh {
			copy(dst[(by+y)*w+bx:][:bw], c.kept[(by+y)*w+bx:])
		}
		return
	}
	c.transform(key)
	for y := range bh {
		for x := range bw {
			i := (by+y)*w + bx + x
			base := float32(128)
			if !key {
				base = float32(c.kept[i])
			}
			v := byte(max(0, min(255, base+c.in[y*side+x]+0.5)))
			dst[i], c.kept[i] = v, v
		}
	}
}

// transform quantises the block's frequencies, the higher the coarser; a correction has a wide dead
// zone, as encoders do. The cosines of even frequencies are alike on both sides of the middle,
// those of odd ones opposite, which halves the work.
func (c *codec) transform(key bool) {
	var half [64]float32
	for y := range side {
		c.forward(c.in[y*side:y*side+side], half[y:], side) // turned, so that the columns come next
	}
	dead := float32(0.33)
	if !key {
		dead = 0.2
	}
	var held [side]bool // which columns of frequencies hold anything
	for k := range side {
		column := c.coef[k*side : k*side+side]
		c.forward(half[k*side:k*side+side], column, 1)
		for l, s := range column {
			q := c.fine * (1 + 0.22*float32(k+l))
			n := float32(int32(abs(s)/q + dead))
			if s < 0 {
				n = -n
			}
			column[l] = n * q
			held[k] = held[k] || n != 0
		}
	}
	clear(half[:])
	for k := range side {
		if held[k] {
			c.inverse(c.coef[k*side:k*side+side], half[k:], side)
		}
	}
	for y := range side {
		c.inverse(half[y*side:y*side+side], c.in[y*side:], 1)
	}
}

// forward writes the frequencies of eight values to every step-th of out.
func (c *codec) forward(v, out []float32, step int) {
	v = v[:side]
	s0, s1, s2, s3 := v[0]+v[7], v[1]+v[6], v[2]+v[5], v[3]+v[4]
	d0, d1, d2, d3 := v[0]-v[7], v[1]-v[6], v[2]-v[5], v[3]-v[4]
	for k := 0; k < side; k += 2 {
		e, o := &c.cos[k], &c.cos[k+1]
		out[k*step] = s0*e[0] + s1*e[1] + s2*e[2] + s3*e[3]
		out[(k+1)*step] = d0*o[0] + d1*o[1] + d2*o[2] + d3*o[3]
	}
}

// inverse writes the values of eight frequencies to every step-th of out.
func (c *codec) inverse(f, out []float32, step int) {
	f = f[:side]
	for x := range side / 2 {
		e := f[0]*c.cos[0][x] + f[2]*c.cos[2][x] + f[4]*c.cos[4][x] + f[6]*c.cos[6][x]
		o := f[1]*c.cos[1][x] + f[3]*c.cos[3][x] + f[5]*c.cos[5][x] + f[7]*c.cos[7][x]
		out[x*step], out[(side-1-x)*step] = e+o, e-o
	}
}

func abs(v float32) float32 {
	if v < 0 {
		return -v
	}
	return v
}
