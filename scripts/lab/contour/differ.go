package contour

import (
	"math"
	"time"
)

const (
	exposeEvery = 4000 // pixels, about, that the exposure is told from
	exposeLeast = 0.4  // grey levels by which the picture as a whole must be off
	exposeRest  = 0.6  // of what it differs by, that gain and offset must leave at most
	jumpLevels  = 15   // grey levels by which a pixel differs where the light of the scene changes
	jumpShare   = 0.35 // of the pixels, that do then
	jumpFor     = time.Second
	jumpSurely  = 0.7 // of the pixels, that differ where it is surely so
	jumpReach   = 2   // pixels to either side, between which edges are compared
	jumpAlike   = 0.3 // correlation of these, at least
)

// expose brings the background into the exposure of the picture: gain and offset by least squares
// over unmarked pixels, with what differs most trimmed. Where much of the picture changes at once,
// each lamp lights other places: all that is not marked becomes background, and for a moment
// nothing new is marked.
func (c *Contour) expose(p Picture) {
	step := max(1, c.width*c.height/exposeEvery) | 1
	gain, offset, limit, explained := 1.0, 0.0, math.Inf(1), false
	for round := range 3 {
		var n, x, y, xx, xy, rest, still, far float64
		for i := step / 2; i < len(c.back); i += step {
			if c.marks[i] != 0 {
				continue
			}
			b, v := float64(c.back[i])/256, float64(p.Luma[i/c.width*p.Stride+i%c.width])
			r := math.Abs(v - gain*b - offset)
			if r > limit {
				continue
			}
			if r > jumpLevels {
				far++
			}
			n, x, y, xx, xy, rest, still = n+1, x+b, y+v, xx+b*b, xy+b*v, rest+r, still+math.Abs(v-b)
		}
		if round == 0 && c.pictures > 1 && far > jumpShare*n && n > 100 {
			if far > jumpSurely*n || c.relit(p, step) {
				c.jump(p)
				return
			}
		}
		det := n*xx - x*x
		if n < 100 || det <= n*n {
			return
		}
		gain = (n*xy - x*y) / det
		offset = (y - gain*x) / n
		explained = rest < exposeRest*still // by the fit of the round before
		limit = 2.5*rest/n + 1
	}
	if !explained || gain < 0.3 || gain > 3 || math.Abs(offset)+math.Abs(gain-1)*100 < exposeLeast {
		return
	}
	k, o := int64(gain*65536), int64(offset*256*65536)
	for i, b := range c.back {
		c.back[i] = uint16(max(0, min(65535, (int64(b)*k+o)>>16)))
	}
}

// relit tells whether the picture, where it differs much, has the edges of the background, if it
// has any: it is the same place in another light, and nothing large that came before it.
func (c *Contour) relit(p Picture, step int) bool {
	var xx, xy, yy float64
	for i := step / 2; i < len(c.back); i += step {
		x, y := i%c.width, i/c.width
		if c.marks[i] != 0 || x < jumpReach || y < jumpReach || x >= c.width-jumpReach || y >= c.height-jumpReach {
			continue
		}
		at := y*p.Stride + x
		if d := int(p.Luma[at]) - int(c.back[i]>>8); d <= jumpLevels && d >= -jumpLevels {
			continue
		}
		for _, k := range [2][2]int{{jumpReach, jumpReach}, {jumpReach * c.width, jumpReach * p.Stride}} {
			b := float64(int(c.back[i+k[0]]>>8) - int(c.back[i-k[0]]>>8))
			v := float64(int(p.Luma[at+k[1]]) - int(p.Luma[at-k[1]]))
			xx, xy, yy = xx+b*b, xy+b*v, yy+v*v
		}
	}
	return xy > jumpAlike*math.Sqrt(xx*yy)
}

// jump takes the picture for the background where nothing is marked.
func (c *Contour) jump(p Picture) {
	for i, m := range c.marks {
		if m == 0 {
			c.renew(i, p.Luma[i/c.width*p.Stride+i%c.width])
		}
	}
	c.blindTill = p.Time.Add(jumpFor)
}

// differ works out by how much each pixel differs from the background, and the mean of that over
// 3x3 pixels.
func (c *Contour) differ(p Picture) {
	w, h := c.width, c.height
	back := c.view(-p.ShiftX, -p.ShiftY)
	for y := range h {
		in, b, out := p.Luma[y*p.Stride:][:w], back[y*w:][:w], c.raw[y*w:][:w]
		for x, v := range in {
			out[x] = int16(int32(v)<<4 - int32(b[x]>>4))
		}
		line := c.rows[y*w:][:w]
		line[0], line[w-1] = 3*out[0], 3*out[w-1]
		for x := 1; x < w-1; x++ {
			line[x] = out[x-1] + out[x] + out[x+1]
		}
	}
	for y := range h {
		a, b, d := c.rows[max(0, y-1)*w:][:w], c.rows[y*w:][:w], c.rows[min(h-1, y+1)*w:][:w]
		out := c.smooth[y*w:][:w]
		for x := range out {
			out[x] = int16((int32(a[x]) + int32(b[x]) + int32(d[x])) * 7282 >> 16)
		}
	}
}

// view is the background as a camera sees it that looks elsewhere by a shift in pixels.
func (c *Contour) view(dx, dy float64) []uint16 {
	if math.Abs(dx) < 0.05 && math.Abs(dy) < 0.05 {
		return c.back
	}
	w, h := c.width, c.height
	ix, iy := int(math.Floor(dx)), int(math.Floor(dy))
	u, v := uint32((dx-float64(ix))*256), uint32((dy-float64(iy))*256)
	at := func(n, size int) int { return max(0, min(size-1, n)) }
	for y := range h {
		a, b := c.back[at(y+iy, h)*w:][:w], c.back[at(y+iy+1, h)*w:][:w]
		out := c.shifted[y*w:][:w]
		for x := range out {
			i, j := at(x+ix, w), at(x+ix+1, w)
			top, low := uint32(a[i])*(256-u)+uint32(a[j])*u, uint32(b[i])*(256-u)+uint32(b[j])*u
			out[x] = uint16((top>>8*(256-v) + low>>8*v) >> 8)
		}
	}
	return c.shifted
}
