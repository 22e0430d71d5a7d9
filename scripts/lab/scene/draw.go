package scene

import (
	"math"

	"vmsbridge/scripts/lab/scene/lens"
	"vmsbridge/scripts/lab/scene/plate"
)

// settling is for how long pictures are drawn before one that is wanted out of order.
const settling = 3

// Luma draws the luma of picture i, full range, into dst, which holds the whole plane.
func (s *Scene) Luma(i int, dst []byte) {
	if i != s.next {
		s.lens.Forget()
		s.still = nil
		for k := max(0, i-settling); k < i; k++ {
			s.render(k, dst)
		}
	}
	s.next = i + 1
	s.render(i, dst)
}

// Draw paints picture i of the loop into p, whose planes are made if they do not fit.
func (s *Scene) Draw(i int, p *Picture) {
	n := s.o.Width * s.o.Height
	if len(p.Y) != n || len(p.U) != n/4 || len(p.V) != n/4 {
		*p = Picture{Y: make([]byte, n), U: make([]byte, n/4), V: make([]byte, n/4)}
	}
	copy(p.U, s.place.U)
	copy(p.V, s.place.V)
	s.target.U, s.target.V = p.U, p.V
	s.Luma(i, p.Y)
	s.target.U, s.target.V = nil, nil
	if s.frame.ir {
		for k := range p.U {
			p.U[k], p.V[k] = 128, 128
		}
	}
	for k, l := range p.Y {
		p.Y[k] = byte(16 + (int(l)*219+127)/255)
	}
}

// render draws one picture.
func (s *Scene) render(i int, dst []byte) {
	number := i % s.Len()
	t := s.seconds(i)
	if s.isFrozen(t) && len(s.still) == len(dst) {
		copy(dst, s.still)
		return
	}
	s.arrange(number, t)
	f := &s.frame
	s.illuminate(f)
	for _, scenic := range s.scenic {
		scenic(t, f)
	}
	s.target.Infra = f.ir
	for _, a := range s.actors {
		if t >= a.from && t < a.to {
			a.draw(t, &s.target)
		}
	}
	for _, before := range s.before {
		before(t, f)
	}
	view := s.look(f, s.pix)
	s.lens.Take(view, lens.Shot{Number: number, Gain: f.gain, Noise: f.noise, Rows: f.rows}, dst)
	for _, after := range s.after {
		after(number, t, dst)
	}
	s.lens.Encode(number, dst)
	if len(s.frozen) > 0 {
		s.still = append(s.still[:0], dst...)
	}
}

// arrange works out light and camera of a moment.
func (s *Scene) arrange(number int, t float64) {
	s.frame = frame{number: number, weights: s.weights, gain: 1, noise: 1, beams: s.frame.beams[:0]}
	s.frame.ir = s.weights[plate.Infrared] > 0
	for _, light := range s.light {
		light(t, &s.frame)
	}
	s.exposure.apply(t, &s.frame)
}

// illuminate fills pix with the empty place in the light of the frame.
func (s *Scene) illuminate(f *frame) {
	if !s.baseOK || f.weights != s.baseOf || f.clouds != nil {
		k0, k1, k2 := uint64(f.weights[0]*4096), uint64(f.weights[1]*4096), uint64(f.weights[2]*4096)
		if f.clouds != nil {
			k1 = 0
		}
		a, b, c := s.lit[0], s.lit[1], s.lit[2]
		for i := range s.base {
			s.base[i] = uint16(min(65535, (uint64(a[i])*k0+uint64(b[i])*k1+uint64(c[i])*k2)>>12))
		}
		if f.clouds != nil {
			f.clouds.multiply(s.base, b, s.o.Width, s.o.Height, f.weights[1])
		}
		s.baseOf, s.baseOK = f.weights, f.clouds == nil
	}
	copy(s.pix, s.base)
	for i := range f.beams {
		f.beams[i].shine(s, f)
	}
}

// look moves and blurs what the camera sees, if it does. The view stays as it is.
func (s *Scene) look(f *frame, view []uint16) []uint16 {
	pix := view
	if f.waver != nil {
		if s.bent == nil {
			s.bent = make([]uint16, len(view))
		}
		f.waver.bend(s.bent, view, s.o.Width, s.o.Height)
		view = s.bent
	}
	if f.dx != 0 || f.dy != 0 {
		shift(s.shifted, view, s.o.Width, s.o.Height, f.dx*float64(s.o.Width), f.dy*float64(s.o.Width))
		view = s.shifted
	}
	if r := f.blur * float64(s.o.Width); r > 0.05 {
		if &view[0] == &pix[0] {
			copy(s.shifted, view)
			view = s.shifted
		}
		for range 2 { // two boxes are nearly round
			blur(view, s.o.Width, s.o.Height, r)
		}
	}
	return view
}

// shift moves a picture by fractions of pixels; the edge is repeated.
func shift(dst, src []uint16, w, h int, dx, dy float64) {
	ix, iy := int(math.Floor(dx)), int(math.Floor(dy))
	u, v := uint64((dx-float64(ix))*256), uint64((dy-float64(iy))*256)
	at := func(n, size int) int { return max(0, min(size-1, n)) }
	for y := range h {
		a, b := src[at(y+iy, h)*w:][:w], src[at(y+iy+1, h)*w:][:w]
		for x := range w {
			i, j := at(x+ix, w), at(x+ix+1, w)
			top := uint64(a[i])*(256-u) + uint64(a[j])*u
			low := uint64(b[i])*(256-u) + uint64(b[j])*u
			dst[y*w+x] = uint16((top*(256-v) + low*v) >> 16)
		}
	}
}

// blur averages over boxes of a radius in pixels, which may be a fraction.
func blur(p []uint16, w, h int, radius float64) {
	line := make([]uint64, max(w, h)+1)
	k := int(radius)
	part := uint64((radius - float64(k)) * 256)
	run := func(start, step, n int) {
		get := func(i int) uint64 { return uint64(p[start+max(0, min(n-1, i))*step]) }
		var sum uint64
		for i := -k; i <= k; i++ {
			sum += get(i)
		}
		all := uint64(2*k+1)*256 + 2*part
		for i := range n {
			line[i] = (sum*256 + (get(i-k-1)+get(i+k+1))*part) / all
			sum += get(i+k+1) - get(i-k)
		}
		for i := range n {
			p[start+i*step] = uint16(line[i])
		}
	}
	for y := range h {
		run(y*w, 1, w)
	}
	for x := range w {
		run(x, w, h)
	}
}
