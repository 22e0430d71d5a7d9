package contour

import "time"

const (
	firstDev  = 3 << 8
	mostDev   = 24 << 8
	learnTau  = 1500 * time.Millisecond // of the background
	devTau    = 6 * time.Second
	firstMany = 8 // pictures that count alike in the beginning
	apart     = 2 // pixels from what is marked, from which on is learned
)

// learn takes the picture into the background where nothing is marked, neither here nor by the
// detector, and not close to that.
func (c *Contour) learn(p Picture, dt time.Duration) {
	a := int32(min(65536/2, 65536*int64(dt)/int64(learnTau)))
	if c.pictures < firstMany {
		a = max(a, int32(65536/c.pictures))
	}
	speed := pace{back: a, up: int32(min(65536/4, 65536*int64(dt)/int64(devTau/3))),
		down: int32(min(65536/8, 65536*int64(dt)/int64(devTau)))}
	if p.ShiftX > 0.05 || p.ShiftX < -0.05 || p.ShiftY > 0.05 || p.ShiftY < -0.05 {
		speed.back = 0
	}
	near := c.wider(c.rect, apart)
	near.top, near.bottom = c.top, c.bottom
	for y := range c.height {
		if y >= near.top && y < near.bottom {
			c.take(p, speed, y, 0, near.left)
			c.take(p, speed, y, near.right, c.width)
			continue
		}
		c.take(p, speed, y, 0, c.width)
	}
	c.count(c.marks, apart, near, func(y int, sums []int32) {
		prior := c.prior[y*c.width:][near.left:near.right]
		free := 0 // where what may be learned began
		for x, sum := range sums[:len(prior)] {
			if sum != 0 || prior[x] >= priorNear {
				c.take(p, speed, y, near.left+free, near.left+x)
				free = x + 1
			}
		}
		c.take(p, speed, y, near.left+free, near.right)
	})
}

// pace is how fast is learned, in 1/65536: the background, and what it differs by as that gets more
// and less.
type pace struct{ back, up, down int32 }

// take takes some pixels of a row into the background.
func (c *Contour) take(p Picture, speed pace, y, from, to int) {
	if from >= to {
		return
	}
	smooth, dev := c.smooth[y*c.width:][from:to], c.dev[y*c.width:][from:to]
	for x, s := range smooth {
		d := int32(max(s, -s))<<4 - int32(dev[x])
		k := speed.down
		if d > 0 {
			k = speed.up
		}
		dev[x] = uint16(min(mostDev, int32(dev[x])+d*k>>16)) // d is less than 1<<16, and k at most 1<<14
	}
	if speed.back == 0 {
		return
	}
	back := c.back[y*c.width:][from:to]
	for x, v := range p.Luma[y*p.Stride:][from:to] {
		b := int64(back[x])
		back[x] = uint16(b + (int64(v)<<8-b)*int64(speed.back)>>16)
	}
}
