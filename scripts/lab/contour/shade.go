package contour

import "bytes"

// What the surroundings of a candidate say of it.
const (
	seemsThing = 1
	seemsShade = 2 // as smooth as the background: it may be a shadow
	seemsLit   = 4 // the background in another light
)

const (
	shadeLeast = 0.4  // of the background's contrast that a shadow leaves
	shadeMost  = 1.5  // times the background's contrast, that light makes of it
	shadeTimes = 2.0  // times the noise, squared, that may be left when light is taken off
	shadeSure  = 3.0  // times the noise, squared, that the background's own pattern must have to tell
	shadeAlike = 0.6  // of the picture's contrast, squared, that light must explain
	shadeDark  = 0.5  // times as bright as the background a shadow on something smooth is, at least
	shadeLight = 0.97 // and at most
	shadeStep  = 0.05 // of the brightness, by which a shadow changes from pixel to pixel
	shadeSteps = 4    // pixels that a shadow goes on where its border hides what it falls on
)

// sums are those over a square: of the picture, of the background, and of their products.
type sums struct{ i, b, ii, ib, bb int32 }

func (s *sums) add(o *sums) {
	s.i, s.b, s.ii, s.ib, s.bb = s.i+o.i, s.b+o.b, s.ii+o.ii, s.ib+o.ib, s.bb+o.bb
}

func (s *sums) sub(o *sums) {
	s.i, s.b, s.ii, s.ib, s.bb = s.i-o.i, s.b-o.b, s.ii-o.ii, s.ib-o.ib, s.bb-o.bb
}

func (s *sums) put(i, b, times int32) {
	s.i, s.b, s.ii, s.ib, s.bb = s.i+times*i, s.b+times*b, s.ii+times*i*i, s.ib+times*i*b, s.bb+times*b*b
}

// unshade takes candidates away around which the picture is what the background is, times a gain:
// it is lit otherwise, and nothing is there. Where the background is too smooth to tell, the
// candidate becomes seemsShade.
func (c *Contour) unshade(p Picture) {
	w, h := c.width, c.height
	box, n := c.box(c.cand)
	if n == 0 {
		return
	}
	left, top, right, bottom := box.left, box.top, box.right, box.bottom
	back := c.view(-p.ShiftX, -p.ShiftY)
	reach := 2
	if w > 400 {
		reach = 3
	}
	noise := c.noise()
	from, to := max(0, left-reach), min(w, right+reach)
	columns := c.columns[:to-from]
	clear(columns)
	add := func(y int, times int32) {
		if y < 0 || y >= h {
			return
		}
		in, b := p.Luma[y*p.Stride+from:][:to-from], back[y*w+from:][:to-from]
		for x, v := range in {
			columns[x].put(int32(v), int32(b[x]>>8), times)
		}
	}
	for y := top - reach - 1; y < top+reach; y++ {
		add(y, 1)
	}
	for y := top; y < bottom; y++ {
		add(y+reach, 1)
		add(y-reach-1, -1)
		rows := min(h, y+reach+1) - max(0, y-reach)
		var s sums
		for x := from; x < min(to, left+reach); x++ {
			s.add(&columns[x-from])
		}
		for x := left; x < right; x++ {
			if x+reach < to {
				s.add(&columns[x+reach-from])
			}
			if x-reach-1 >= from {
				s.sub(&columns[x-reach-1-from])
			}
			if i := y*w + x; c.cand[i] != 0 {
				n := rows * (min(to, x+reach+1) - max(from, x-reach))
				c.cand[i] = s.seems(float64(n), noise)
			}
		}
	}
	c.spread(back)
}

// seems tells what n pixels look like in which noise, the square of grey levels.
func (s *sums) seems(n, noise float64) byte {
	i, b := float64(s.i)/n, float64(s.b)/n
	ii, ib, bb := float64(s.ii)/n-i*i, float64(s.ib)/n-i*b, float64(s.bb)/n-b*b
	if bb > shadeSure*noise {
		gain := ib / bb
		if gain > shadeLeast && gain < shadeMost && ii-ib*gain < shadeTimes*noise && ib*ib > shadeAlike*ii*bb {
			return seemsLit
		}
		return seemsThing
	}
	if r := i / max(1, b); ii < shadeTimes*noise && r > shadeDark && r < shadeLight {
		return seemsShade
	}
	return seemsThing
}

// noise is the square of what unmarked pixels differ from the background by, in grey levels: the
// middle of some.
func (c *Contour) noise() float64 {
	var of [256]int
	n, step := 0, max(1, c.width*c.height/exposeEvery)|1
	for i := step / 2; i < len(c.raw); i += step {
		if c.marks[i] == 0 {
			of[min(255, max(c.raw[i], -c.raw[i])/4)]++
			n++
		}
	}
	k := 0
	for below := 0; k < 255 && 2*below < n; k++ {
		below += of[k]
	}
	sigma := 1.48 * float64(k) / 4
	return sigma*sigma + 1
}

// spread lets what is lit, and what may be a shadow, go on by some pixels, as far as it hardly
// changes: at its border the surroundings show something else.
func (c *Contour) spread(back []uint16) {
	w, h := c.width, c.height
	lit := func(i int) float64 { b := float64(back[i]); return (b + 16*float64(c.smooth[i])) / max(256, b) }
	c.queue = c.queue[:0]
	for y := c.top; y < c.bottom; y++ {
		for x, v := range c.cand[y*w:][c.left:c.right] {
			if v >= seemsShade {
				c.queue = append(c.queue, int32(y*w+c.left+x))
			}
		}
	}
	begin := 0
	for range shadeSteps {
		end := len(c.queue)
		for _, at := range c.queue[begin:end] {
			i := int(at)
			x, y, k := i%w, i/w, lit(i)
			look := func(j int) {
				if d := lit(j) - k; c.cand[j] != 0 && c.cand[j] < c.cand[i] && d < shadeStep && d > -shadeStep {
					c.cand[j] = c.cand[i]
					c.queue = append(c.queue, int32(j))
				}
			}
			if x > 0 {
				look(i - 1)
			}
			if x+1 < w {
				look(i + 1)
			}
			if y > 0 {
				look(i - w)
			}
			if y+1 < h {
				look(i + w)
			}
		}
		begin = end
	}
}

// box is the least rect that has all that is not zero, and the number of its pixels.
func (c *Contour) box(in []byte) (r rect, n int) {
	r = rect{left: c.width, top: c.height}
	for y := c.top; y < c.bottom; y++ {
		row := in[y*c.width:][c.left:c.right]
		zeroes := bytes.Count(row, []byte{0})
		if zeroes == len(row) {
			continue
		}
		n += len(row) - zeroes
		first, last := 0, len(row)-1
		for row[first] == 0 {
			first++
		}
		for row[last] == 0 {
			last--
		}
		r = rect{min(r.left, c.left+first), min(r.top, y), max(r.right, c.left+last+1), y + 1}
	}
	return r, n
}
