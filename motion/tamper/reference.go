package tamper

import (
	"math"
)

const (
	forget       = 60.0 // seconds, in which a reference follows slow changes: shadows, dusk, a thing that was put down
	contrastFade = 20.0 // seconds, in which the usual contrast follows fog and rain
	glare        = 240  // grey level of a cell that is saturated
)

// reference is what the view looks like under one kind of light.
type reference struct {
	plain []float32 // by cell: its grey level
	stand []float32 // by cell: how much it stands out of its neighbourhood, signed
	edge  []float32 // by cell: its magnitude
	fine  []float32 // by fine pixel: the curvature of the picture

	was      [blocks]float32 // by block: the sum of squares of fine
	grain    [blocks]float32 // by block: mean square of the curvature that is not in fine: noise, and what moves
	level    float32         // mean grey level
	bright   float32         // share of saturated cells
	contrast float32         // usual gain against stand, relative to the light; follows fast
	sharp    float32         // usual gain against fine, relative to that against stand
	looks    int             // taken into it; 0: nothing known
	used     uint64          // number of the look when it was last the one that fitted
}

// grow gives r what it learns into, when it is first needed: most views need one reference.
func (r *reference) grow(g grid) {
	r.plain, r.stand, r.edge = make([]float32, g.cells()), make([]float32, g.cells()), make([]float32, g.cells())
	r.fine = make([]float32, g.fineWidth*g.fineHeight)
}

// forget makes r empty.
func (r *reference) forget() { r.looks, r.contrast, r.sharp, r.grain = 0, 0, 0, [blocks]float32{} }

// weight is the share that a look dt seconds after the one before has in a mean over the last
// seconds, while there are few looks.
func (r *reference) weight(dt, seconds float64) float32 {
	return float32(max(1/float64(r.looks+1), 1-math.Exp(-dt/seconds)))
}

// learn takes one look into the reference, but for fine, which sharpness does. soft below 1 makes
// it slower.
func (r *reference) learn(l *view, dt float64, soft float32) {
	a := soft * r.weight(dt, forget)
	for i, v := range l.stand {
		r.stand[i] += a * (v - r.stand[i])
		r.edge[i] += a * (abs(v) - r.edge[i])
		r.plain[i] += a * (l.smooth[i] - r.plain[i])
	}
	r.level += a * (l.level - r.level)
	r.bright += a * (l.bright - r.bright)
}

// match is how one view compares with a reference.
type match struct {
	blocks   int     // that have structure in the reference
	gone     float32 // share of them whose structure is not there
	weak     float32 // share of them that have no structure of their own instead
	fit      float32 // mean likeness of their structure, 0 to 1
	signed   float32 // mean correlation, with its sign
	gain     float32 // mean gain of those that are there
	contrast float32 // the same, relative to the light
	dark     bool    // it is much darker than it was
	kept     [blocks]bool
	lost     [blocks]bool // those that are gone
}

const (
	textured  = 0.6 // grey levels, root mean square, that a block must stand out to count
	likeness  = 0.3 // least correlation of a block's structure
	faint     = 0.4 // of the usual contrast: what is below is as good as gone
	ownFaint  = 0.5 // of the structure that was there: what is below is none of its own
	dark      = 0.4 // of the usual level: below, contrast says little, and
	darkScene = 0.3 // this much correlation over the picture is the scene without its light
)

// compare matches a view with r.
func (r *reference) compare(g grid, l *view) match {
	var m match
	light := r.light(l)
	usual := float32(1)
	if r.contrast > 0 {
		usual = min(r.contrast, 1.5)
	}
	least := faint * usual
	m.dark = l.level < dark*r.level
	if m.dark {
		least /= 2
	}
	var weighs, contrast float32
	for by := range blocksY {
		for bx := range blocksX {
			n, e, own, was := r.correlate(g, l, bx, by)
			if was.rms < textured {
				continue
			}
			m.blocks++
			fit, gain := max(n.fit, e.fit), max(n.gain, e.gain)*light
			m.fit += max(0, fit)
			m.signed += n.fit
			there := fit >= likeness
			if there {
				contrast += was.rms * gain
				weighs += was.rms
			}
			if there && gain >= least {
				m.kept[by*blocksX+bx] = true
				continue
			}
			m.gone++
			m.lost[by*blocksX+bx] = true
			if own.rms*light < ownFaint*usual*was.rms {
				m.weak++
			}
		}
	}
	if m.blocks == 0 {
		return m
	}
	k := 1 / float32(m.blocks)
	m.gone, m.weak, m.fit, m.signed = m.gone*k, m.weak*k, m.fit*k, m.signed*k
	if weighs > 0 {
		m.contrast = contrast / weighs
		m.gain = m.contrast / light
	}
	if m.dark && m.signed >= darkScene {
		m.gone, m.weak, m.lost = 0, 0, [blocks]bool{}
	}
	return m
}

// light is the factor by which the view must be brightened to be as bright as r.
func (r *reference) light(l *view) float32 { return min(max(r.level/max(l.level, 1), 1.0/3), 12) }

// relation is how one block's structure now follows from what it was: the correlation, and the
// gain.
type relation struct{ fit, gain float32 }

// strength is the root mean square of what stands out in a block.
type strength struct{ rms float32 }

// correlate compares one block: its structure with the sign, and the places of its edges without.
func (r *reference) correlate(g grid, l *view, bx, by int) (signed, edges relation, own, was strength) {
	x0, x1 := block(bx, blocksX, g.width)
	y0, y1 := block(by, blocksY, g.height)
	var nn, nr, rr, en, er, een, err float32
	for y := y0; y < y1; y++ {
		now, ref, edge := l.stand[y*g.width+x0:y*g.width+x1], r.stand[y*g.width+x0:y*g.width+x1],
			r.edge[y*g.width+x0:y*g.width+x1]
		for i, v := range now {
			s, e, a := ref[i], edge[i], abs(v)
			nn += v * v
			nr += v * s
			rr += s * s
			en += a
			er += e
			een += a * e
			err += e * e
		}
	}
	n := float32((x1 - x0) * (y1 - y0))
	signed = relate(nr, nn, rr)
	edges = relate(een-en*er/n, nn-en*en/n, err-er*er/n)
	return signed, edges, strength{root(nn / n)}, strength{root(rr / n)}
}

// relate makes a relation of sums of products.
func relate(both, now, was float32) relation {
	if now <= 1e-6 || was <= 1e-6 {
		return relation{}
	}
	return relation{fit: both / root(now*was), gain: both / was}
}

// shading is how the light and dark of some blocks follow from what they were, by their means; nil
// are all. Behind a lens out of focus, however far, they stay; behind a hand they are others, and
// behind paint or a thin cloth they are faint.
func (r *reference) shading(g grid, l *view, of *[blocks]bool) relation {
	var n, w, nn, nw, ww, count float32
	for by := range blocksY {
		for bx := range blocksX {
			if of != nil && !of[by*blocksX+bx] {
				continue
			}
			x0, x1 := block(bx, blocksX, g.width)
			y0, y1 := block(by, blocksY, g.height)
			var v, u float32
			for y := y0; y < y1; y++ {
				now, was := l.smooth[y*g.width+x0:y*g.width+x1], r.plain[y*g.width+x0:y*g.width+x1]
				for i, c := range now {
					v += c
					u += was[i]
				}
			}
			k := 1 / float32((x1-x0)*(y1-y0))
			v, u = v*k-l.level, u*k-r.level
			n, w, count = n+v, w+u, count+1
			nn, nw, ww = nn+v*v, nw+v*u, ww+u*u
		}
	}
	k := 1 / max(1, count)
	return relate(nw-n*w*k, nn-n*n*k, ww-w*w*k)
}

// abs has no branch: signs are as good as random.
func abs(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

func root(v float32) float32 { return float32(math.Sqrt(float64(max(0, v)))) }
