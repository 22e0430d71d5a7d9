package contour

import "time"

const (
	firstDev  = 3 << 8
	mostDev   = 24 << 8
	learnTau  = 1500 * time.Millisecond // of the background
	devTau    = 6 * time.Second
	firstMany = 8 // pictures that count alike in the beginning
)

// learn takes the picture into the background where nothing is marked, neither here nor by the detector, and not close to that.
func (c *Contour) learn(p Picture, dt time.Duration) {
	a := int32(min(65536/2, 65536*int64(dt)/int64(learnTau)))
	if c.pictures < firstMany {
		a = max(a, int32(65536/c.pictures))
	}
	up, down := int32(min(65536/4, 65536*int64(dt)/int64(devTau/3))), int32(min(65536/8, 65536*int64(dt)/int64(devTau)))
	shift := p.ShiftX > 0.05 || p.ShiftX < -0.05 || p.ShiftY > 0.05 || p.ShiftY < -0.05
	w := c.width
	one := func(i int) {
		s := int32(c.smooth[i])
		if s < 0 {
			s = -s
		}
		d := s<<4 - int32(c.dev[i])
		k := down
		if d > 0 {
			k = up
		}
		c.dev[i] = uint16(min(mostDev, int32(c.dev[i])+int32(int64(d)*int64(k)>>16)))
		if shift {
			return
		}
		b := int32(c.back[i])
		c.back[i] = uint16(b + int32(int64(int32(p.Luma[i/w*p.Stride+i%w])<<8-b)*int64(a)>>16))
	}
	copy(c.cand, c.marks)
	c.count(2, func(i, sum, _ int) {
		if sum == 0 && c.prior[i] < priorNear {
			one(i)
		}
	})
	for y := range c.height {
		if y >= c.top && y < c.bottom {
			continue
		}
		for i := y * w; i < y*w+w; i++ {
			one(i)
		}
	}
}
