package scene

import (
	"math/rand/v2"

	"vmsbridge/scripts/lab/scene/plate"
)

const (
	waverWide, waverHigh = 40, 30 // of the grid on which the wavering is drawn
)

// waver is by how much hot air moves each place of the picture, in widths of it.
type waver [waverHigh + 1][waverWide + 1][2]float64

// heat is the air over hot ground, through which the camera looks from afar: everything wavers,
// each place on its own, and is now sharp, now soft.
func (s *Scene) heat() {
	strong, fine, fast, seed := s.between(0.001, 0.0035), s.between(5, 12), s.between(4, 9), s.between(0, 99)
	var field waver
	s.light = append(s.light, func(t float64, f *frame) {
		for j := range field {
			for i := range field[j] {
				x, y := fine*float64(i)/waverWide, fine*float64(j)/waverHigh
				field[j][i] = [2]float64{strong * plate.Noise(x+seed, y-fast*t),
					0.7 * strong * plate.Noise(x-seed, y+40-fast*t)}
			}
		}
		f.waver = &field
		r := rand.New(rand.NewPCG(s.o.Seed, uint64(f.number)+0x4ea7))
		f.blur = max(f.blur, strong*(0.1+0.5*r.Float64()))
	})
}

// bend draws src as it is seen through the air; the edge is repeated.
func (v *waver) bend(dst, src []uint16, w, h int) {
	at := func(n, size int) int { return max(0, min(size-1, n)) }
	for y := range h {
		fy := float64(y) / float64(h) * waverHigh
		j := int(fy)
		q := fy - float64(j)
		for x := range w {
			fx := float64(x) / float64(w) * waverWide
			i := int(fx)
			p := fx - float64(i)
			var d [2]float64
			for k := range d {
				d[k] = (v[j][i][k]*(1-p)+v[j][i+1][k]*p)*(1-q) + (v[j+1][i][k]*(1-p)+v[j+1][i+1][k]*p)*q
			}
			sx, sy := float64(x)+d[0]*float64(w)+1024, float64(y)+d[1]*float64(w)+1024
			ix, iy := int(sx), int(sy)
			a, b := uint64((sx-float64(ix))*256), uint64((sy-float64(iy))*256)
			up, low := src[at(iy-1024, h)*w:][:w], src[at(iy-1023, h)*w:][:w]
			left, right := at(ix-1024, w), at(ix-1023, w)
			dst[y*w+x] = uint16(((uint64(up[left])*(256-a)+uint64(up[right])*a)*(256-b) +
				(uint64(low[left])*(256-a)+uint64(low[right])*a)*b) >> 16)
		}
	}
}
