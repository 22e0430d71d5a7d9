package tamper

import (
	"slices"

	"vmsbridge/motion"
)

const (
	mostLooks  = 240 // that are in a reference
	fineLeast  = 3   // mean square of the curvature, in which sharpness can be seen
	crispness  = 3   // times the curvature of the noise, at which a block has fine structure
	crispMore  = 4   // mean square, and this much more
	crispShare = 0.1 // of what there was, and this
	// times that of the noise, that the curvature of a block must have been for its place to be
	// told by it
	fineBlock = 0.5
	fewFine   = 2 // blocks, at least
)

// detail is the fine structure of one picture beside that of a reference: by block, sums of
// products of what is there now with what was, with itself, and of what was with itself.
type detail struct {
	both, own, was, count [blocks]float32
	grain                 *[blocks]float32 // of the reference
	left                  float32          // share of the grain that is still in the reference
}

// curl is the fine structure of a picture: the curvature of its fine pixels, and by block the sum
// of its squares and of how many it is.
type curl struct {
	fine       []float32
	own, count [blocks]float32
}

// take looks at a picture.
func (c *curl) take(g grid, p motion.Picture) {
	c.own, c.count = [blocks]float32{}, [blocks]float32{}
	step := g.pitch * p.Stride
	for y := range g.fineHeight {
		up, mid, down := p.Luma[fineRows*y*step:], p.Luma[(fineRows*y+1)*step:], p.Luma[(fineRows*y+2)*step:]
		row := c.fine[y*g.fineWidth : (y+1)*g.fineWidth]
		curvature(up, mid, down, g.pitch, row)
		for bx := range blocksX {
			x0, x1 := block(bx, blocksX, g.fineWidth)
			k := g.fineBlock(bx, y)
			c.own[k] += dot(row[x0:x1], row[x0:x1])
			c.count[k] += float32(x1 - x0)
		}
	}
}

// curvature writes that of the middle one of three rows of fine pixels into to.
func curvature(up, mid, down []byte, pitch int, to []float32) {
	if pitch == 1 { // mostly
		n := len(to)
		up, mid, down = up[1:][:n:n], mid[:n+2:n+2], down[1:][:n:n]
		before, at := int(mid[0]), int(mid[1])
		for i, after := range mid[2:][:n:n] {
			to[i] = float32(4*at - before - int(after) - int(up[i]) - int(down[i]))
			before, at = at, int(after)
		}
		return
	}
	for x := range to {
		i := (x + 1) * pitch
		to[x] = float32(4*int(mid[i]) - int(mid[i-pitch]) - int(mid[i+pitch]) - int(up[i]) - int(down[i]))
	}
}

// dot is the sum of products. b is as long as a.
func dot(a, b []float32) float32 {
	var s, t, u, v float32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		p, q := a[i:][:4:4], b[i:][:4:4]
		s += p[0] * q[0]
		t += p[1] * q[1]
		u += p[2] * q[2]
		v += p[3] * q[3]
	}
	for ; i < len(a); i++ {
		s += a[i] * b[i]
	}
	return s + t + (u + v)
}

// detail compares the fine structure.
func (r *reference) detail(g grid, c *curl) detail {
	if r.fine == nil {
		r.grow(g)
	}
	d := detail{own: c.own, was: r.was, count: c.count, grain: &r.grain,
		left: 1 / float32(max(1, min(r.looks, mostLooks)))}
	for y := range g.fineHeight {
		now, was := c.fine[y*g.fineWidth:(y+1)*g.fineWidth], r.fine[y*g.fineWidth:(y+1)*g.fineWidth]
		for bx := range blocksX {
			x0, x1 := block(bx, blocksX, g.fineWidth)
			d.both[g.fineBlock(bx, y)] += dot(now[x0:x1], was[x0:x1])
		}
	}
	return d
}

// learnFine takes a share of the fine structure over; d is what detail said of it.
func (r *reference) learnFine(g grid, c *curl, d *detail, share float32) {
	r.was = [blocks]float32{}
	for y := range g.fineHeight {
		now, ref := c.fine[y*g.fineWidth:(y+1)*g.fineWidth], r.fine[y*g.fineWidth:(y+1)*g.fineWidth]
		for bx := range blocksX {
			x0, x1 := block(bx, blocksX, g.fineWidth)
			r.was[g.fineBlock(bx, y)] += approach(ref[x0:x1], now[x0:x1], share)
		}
	}
	if r.looks == 0 {
		return // nothing is left of a first look
	}
	share = max(share, 1/float32(r.looks))
	for k := range r.grain {
		if n := d.count[k]; n > 0 {
			r.grain[k] += share * (max(0, d.own[k]-2*d.both[k]+d.was[k])/n - r.grain[k])
		}
	}
}

// approach moves ref towards now by a share, and answers the sum of its squares.
func approach(ref, now []float32, share float32) float32 {
	var s, t float32
	now = now[:len(ref)]
	i := 0
	for ; i+2 <= len(ref); i += 2 {
		p, q := ref[i:][:2:2], now[i:][:2:2]
		a, b := p[0]+share*(q[0]-p[0]), p[1]+share*(q[1]-p[1])
		p[0], p[1] = a, b
		s += a * a
		t += b * b
	}
	if i < len(ref) {
		ref[i] += share * (now[i] - ref[i])
		s += ref[i] * ref[i]
	}
	return s + t
}

// sharpness is the fine structure of some blocks: how much of what was there is still in its place
// (a gain), how much there is and was at any place (mean squares; what is there is less the noise:
// that of the smoother blocks, or what the block always has).
type sharpness struct {
	gain, now, was float32
	noise          float32 // what the blocks usually have of it, mean square
	// by how much the reference seems to have more fine structure than it has, by its own noise; at
	// least 1
	grainy float32
}

// sharpness sums up the kept blocks.
func (d *detail) sharpness(kept *[blocks]bool) sharpness {
	var b, n, s, raw, c, grain float32
	noise := d.smooth(blocks / 4)
	for k := range kept {
		if kept[k] {
			b, raw, c, grain = b+d.both[k], raw+d.was[k], c+d.count[k], grain+d.grain[k]*d.count[k]
			s += max(0, d.was[k]-d.left*d.grain[k]*d.count[k])
			n += max(0, d.own[k]-max(noise, d.grain[k])*d.count[k])
		}
	}
	if c == 0 || s == 0 {
		return sharpness{}
	}
	return sharpness{gain: b / s, now: n / c, was: s / c, noise: grain / c, grainy: raw / s}
}

// smooth is the mean square of the n-th smoothest block: noise, if so many have no structure.
func (d *detail) smooth(n int) float32 {
	sorted := d.own
	for k, count := range d.count {
		sorted[k] /= max(1, count)
	}
	slices.Sort(sorted[:])
	return sorted[n]
}

// crisp is the share of some blocks that have fine structure of their own, whatever was there
// before. What is near the lens, a hand, a cloth or paint, has none; another view has. It is not
// told where the noise of the night hides even what was there.
func (d *detail) crisp(of *[blocks]bool) (share float32, told bool) {
	var was, count float32
	all := 0
	for k := range of {
		if of[k] {
			was, count = was+d.was[k], count+d.count[k]
			all++
		}
	}
	if all == 0 {
		return 0, false
	}
	noise := d.quietest()
	least := max(crispness*max(d.smooth(0), noise)+crispMore, crispShare*was/count)
	crisp := 0
	for k := range of {
		if of[k] && d.own[k] > least*d.count[k] {
			crisp++
		}
	}
	return float32(crisp) / float32(all), was >= crispness*noise*count
}

// quietest is the usual noise of those blocks that have little.
func (d *detail) quietest() float32 {
	sorted := *d.grain
	slices.Sort(sorted[:])
	return sorted[blocks/8]
}

// place is how much of the fine structure of some blocks is where it was: 1 is all that noise
// leaves of it, 0 is none. It is told of the better half of those that have any, and only if some
// do: the others may be half hidden by a truck, or shake.
func (d *detail) place(of *[blocks]bool) (share float32, told bool) {
	var places [blocks]float32
	n := 0
	for k := range of {
		was, grain := d.was[k]/max(1, d.count[k]), d.grain[k]
		if !of[k] || was < max(fineLeast, fineBlock*grain) {
			continue
		}
		if d.both[k] > 0 {
			places[n] = min(1, d.both[k]/root(d.own[k]*d.was[k])*root((was+grain)/was))
		}
		n++
	}
	if n < fewFine {
		return 0, false
	}
	slices.Sort(places[:n])
	for _, p := range places[n/2 : n] {
		share += p
	}
	return share / float32(n-n/2), true
}

// sway is by how many fine pixels a view may have moved and still be known by its fine structure.
const sway = 4

// moved is the largest gain of the fine structure of some blocks, wherever the view went within
// sway: a camera in the wind, or one that was pushed by a hair, is as sharp as before, and noise is
// never alike. row is scratch of one fine row. It takes about a millisecond, so it is asked for
// only when the structure is not where it was.
func (r *reference) moved(g grid, p motion.Picture, of *[blocks]bool, row []float32) float32 {
	var both [2*sway + 1][2*sway + 1]float32
	var was float32
	step := g.pitch * p.Stride
	for y := 1; y < g.fineHeight-1; y += 2 { // every other row is enough
		by := g.fineBlock(0, y)
		ref := r.fine[y*g.fineWidth : (y+1)*g.fineWidth]
		for bx := range blocksX {
			if of[by+bx] {
				x0, x1 := block(bx, blocksX, g.fineWidth)
				for _, f := range ref[max(sway, x0):min(len(ref)-sway, x1)] {
					was += f * f
				}
			}
		}
		for dy := range both {
			at := fineRows*y + 1 + dy - sway
			if at < 1 || (at+1)*g.pitch >= g.pictureHeight {
				continue
			}
			up, mid, down := p.Luma[(at-1)*step:], p.Luma[at*step:], p.Luma[(at+1)*step:]
			curvature(up, mid, down, g.pitch, row)
			for bx := range blocksX {
				if !of[by+bx] {
					continue
				}
				x0, x1 := block(bx, blocksX, g.fineWidth)
				x0, x1 = max(sway, x0), min(len(ref)-sway, x1)
				for dx := range both[dy] {
					now := row[x0+dx-sway : x1+dx-sway]
					sum := float32(0)
					for i, f := range ref[x0:x1] {
						sum += f * now[i]
					}
					both[dy][dx] += sum
				}
			}
		}
	}
	best := float32(0)
	for dy := range both {
		for _, b := range both[dy] {
			best = max(best, b)
		}
	}
	if was == 0 {
		return 0
	}
	return best / was
}
