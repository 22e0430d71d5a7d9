// Package lens makes a camera's picture of the light of a scene: exposure, the curve of grey
// levels, sensor noise, the camera's noise reduction, and what a low bit rate leaves of it.
//
// It comes after plate and figure. A Camera keeps the pictures before, as cameras and codecs do, so
// that pictures are taken in
// their order:
//
//	c := lens.New(lens.Options{Width: 320, Height: 180, Noise: 2, Seed: 1})
//	c.Take(radiance, lens.Shot{Gain: 1, Noise: 1}, luma)
package lens

import (
	"math"
	"math/rand/v2"

	"vmsbridge/scripts/lab/scene/plate"
)

const (
	tileWide, tileHigh = 512, 256 // of the noise, powers of two
	curveShift         = 4        // radiance to index of the curve
)

// Options say what camera it is. Width and Height are required.
type Options struct {
	Width, Height int
	Gamma         float64 // of the curve; 0 is 0.45
	Contrast      float64 // of the curve: 0 is none, 0.5 a lot
	Noise         float64 // standard deviation in grey levels at medium grey
	Grain         float64 // 0 is noise of single pixels, 1 spots of three
	Smear         float64 // of the noise reduction: share of the picture before that stays, 0..0.9
	Quality       float64 // of the codec: the step of its quantisation in grey levels, 0 for none
	GOP           int     // pictures from keyframe to keyframe; 1 is JPEG
	Seed          uint64
}

// Shot is what is special about one picture.
type Shot struct {
	Number int
	Gain   float64   // of the exposure
	Noise  float64   // factor of the noise
	Rows   []float64 // factor of each row, as flickering lamps make it; nil for none
}

// Camera takes pictures. It is not safe for concurrent use.
type Camera struct {
	o      Options
	curve  []uint16 // 1/256 grey levels for radiance
	tile   []int8   // noise, 32 is one standard deviation
	sigma  [257]int32
	before []uint16
	codec  codec
	factor float64 // for which sigma was made
}

// New returns a camera.
func New(o Options) *Camera {
	if o.Gamma == 0 {
		o.Gamma = 0.45
	}
	c := &Camera{o: o, curve: make([]uint16, 65536>>curveShift), tile: makeTile(o), factor: -1}
	for i := range c.curve {
		v := math.Pow(float64(i<<curveShift)/(plate.White*1.18), o.Gamma)
		if v > 0.85 { // the shoulder, above which it bends into white
			v = 1 - 0.15*math.Exp(-(v-0.85)/0.15)
		}
		v += o.Contrast * (v*v*(3-2*v) - v)
		c.curve[i] = uint16(max(0, min(255, 255*v)) * 256)
	}
	c.codec = newCodec(o)
	return c
}

// makeTile draws noise, with spots if the grain asks for them, of one standard deviation whatever
// the grain.
func makeTile(o Options) []int8 {
	r := rand.New(rand.NewPCG(o.Seed, 0x4015e))
	raw := make([]float64, tileWide*tileHigh)
	for i := range raw {
		raw[i] = r.NormFloat64()
	}
	at := func(x, y int) float64 { return raw[(y&(tileHigh-1))*tileWide+x&(tileWide-1)] }
	out := make([]float64, len(raw))
	sum := 0.0
	for y := range tileHigh {
		for x := range tileWide {
			v := at(x, y)
			v += o.Grain * 0.7 * (at(x-1, y) + at(x+1, y) + at(x, y-1) + at(x, y+1))
			v += o.Grain * 0.45 * (at(x-1, y-1) + at(x+1, y+1) + at(x+1, y-1) + at(x-1, y+1))
			out[y*tileWide+x] = v
			sum += v * v
		}
	}
	k := 32 / math.Sqrt(sum/float64(len(out)))
	tile := make([]int8, len(out))
	for i, v := range out {
		tile[i] = int8(max(-127, min(127, math.Round(v*k))))
	}
	return tile
}

// noise makes the noise of every grey level: bright parts have less of it, as the curve is flat
// there, clipped ones none.
func (c *Camera) noise(factor float64) {
	if factor == c.factor {
		return
	}
	c.factor = factor
	for g := range c.sigma {
		v := float64(g) / 255
		s := c.o.Noise * factor * (1.25 - 0.6*v)
		if v > 0.94 {
			s *= max(0, (1-v)/0.06)
		}
		if v < 0.06 {
			s *= 0.4 + 10*v
		}
		c.sigma[g] = int32(s * 256 / 32 * 16)
	}
}

// Take makes the luma of a radiance, full range. The radiance is not changed.
func (c *Camera) Take(radiance []uint16, s Shot, dst []byte) {
	w := c.o.Width
	c.noise(s.Noise)
	r := rand.New(rand.NewPCG(c.o.Seed, uint64(s.Number)+7))
	if c.o.Smear > 0 && c.before == nil {
		c.before = make([]uint16, len(dst))
		for i, v := range radiance {
			c.before[i] = c.curve[min(65535, uint64(float64(v)*s.Gain))>>curveShift]
		}
	}
	ox, oy := int(r.Uint32()), int(r.Uint32())
	keep := int32(256 * c.o.Smear)
	for y := range c.o.Height {
		gain := s.Gain
		if s.Rows != nil {
			gain *= s.Rows[y]
		}
		k := uint64(gain * 4096)
		tile := c.tile[((y+oy)&(tileHigh-1))*tileWide:][:tileWide]
		in, out := radiance[y*w:][:w], dst[y*w:][:w]
		if keep == 0 {
			for x, v := range in {
				g := int32(c.curve[min(uint64(v)*k>>12, 65535)>>curveShift])
				g += int32(tile[(x+ox)&(tileWide-1)]) * c.sigma[g>>8] >> 4
				out[x] = byte(max(0, min(65535, g+128)) >> 8)
			}
			continue
		}
		before := c.before[y*w:][:w]
		for x, v := range in {
			g := int32(c.curve[min(uint64(v)*k>>12, 65535)>>curveShift])
			g += int32(tile[(x+ox)&(tileWide-1)]) * c.sigma[g>>8] >> 4
			b := int32(before[x])
			// The more a pixel differs, the less of what was there stays: 25 grey levels are taken
			// to be motion.
			d := g - b
			stay := keep - keep*min(max(d, -d), 25<<8)/(25<<8)
			g = max(0, min(65535, g-d*stay>>8))
			before[x] = uint16(g)
			out[x] = byte(min(65535, g+128) >> 8)
		}
	}
}

// Level is the grey level at which a radiance is seen, without noise.
func (c *Camera) Level(radiance float64) float64 {
	return float64(c.curve[int(max(0, min(65535, radiance)))>>curveShift]) / 256
}

// Encode replaces the picture by what the codec leaves of it. Number decides where keyframes are.
func (c *Camera) Encode(number int, dst []byte) {
	if c.o.Quality > 0 {
		c.codec.encode(number, dst)
	}
}

// Forget begins anew, as after a jump to another place of the scene.
func (c *Camera) Forget() { c.before = nil; c.codec.started = false }
