package motion

import (
	"math"

	"vmsbridge/motion/plane"
)

// gainOne is a gain of 1 in the fixed point of exposure.
const gainOne = plane.GainOne

// exposure is how the brightness of the whole scene changed between two pictures: y = Gain/4096·x + Offset, in 1/256 grey levels.
// Auto-exposure, a cloud and a light switch are such a change to the first order; what does not fit is looked at by structure.go.
type exposure plane.Exposure

var sameExposure = exposure{Gain: gainOne}

// apply is x under the exposure, within 0..65535.
func (e exposure) apply(x uint16) int32 { return plane.Exposure(e).Apply(x) }

// shift is how much the exposure changes a value at most, in 1/256 grey levels, looked at in the dark, the middle and the bright.
func (e exposure) shift() int32 {
	most := int32(0)
	for _, x := range [...]uint16{16 << 8, 128 << 8, 240 << 8} {
		most = max(most, abs32(e.apply(x)-int32(x)))
	}
	return most
}

// fitSamples is about how many cells the fit of the exposure looks at.
const fitSamples = 900

// sampler fits exposures on a fixed choice of cells.
type sampler struct {
	at     []int32  // cells to look at
	kept   []int32  // those of them that the fits look at now
	x, y   []uint16 // their values in one fit
	counts [512]tally
	spread int32 // of the differences in the last fit, around their median: half of them are within, in grey levels
}

// tally is a count in four parts, that are added to in turn: the same one again and again would have to wait for itself.
type tally [4]uint16

func (t *tally) sum() int32 { return int32(t[0]) + int32(t[1]) + int32(t[2]) + int32(t[3]) }

// choose spreads the samples over the cells that are not masked.
func (s *sampler) choose(mask []byte) {
	step := max(1, len(mask)/fitSamples)
	if step > 1 {
		step |= 1 // so that rows of an even width are not always met in the same columns
	}
	s.at = s.at[:0]
	for i := 0; i < len(mask); i += step {
		if mask[i] != 0 {
			s.at = append(s.at, int32(i))
		}
	}
	s.x, s.y, s.kept = make([]uint16, len(s.at)), make([]uint16, len(s.at)), make([]int32, len(s.at))
}

// look takes the values of y, of the cells without a bit of skip in flags, for the fits that follow.
func (s *sampler) look(y []uint16, flags []byte, skip byte) {
	n, at := 0, s.at
	kept, values := s.kept[:len(at)], s.y[:cap(s.y)][:len(at)]
	flags = flags[:len(y)]
	for _, i := range at {
		kept[n], values[n] = i, y[i]
		n += int(uint32(int32(flags[i]&skip)-1) >> 31) // 1 without a bit of skip: no branch to be guessed
	}
	s.kept, s.y = kept, values[:n]
}

// fit finds the exposure that takes the cells x to what was last looked at, by trimmed least squares that start from the median difference. When less than
// two fifths of the samples agree on one exposure, nothing is compensated.
func (s *sampler) fit(x []uint16) exposure {
	y := s.y
	n := int32(len(y))
	if n < 16 {
		return sameExposure
	}
	clear(s.counts[:])
	counts, values, kept := &s.counts, s.x[:len(y)], s.kept[:len(y)]
	below := int32(0) // differences below 0
	for k, v := range y {
		u := x[kept[k]]
		values[k] = u
		d := int32(v) - int32(u)
		below -= d >> 31
		counts[(d+65536)>>8&511][k&3]++
	}
	// The median is mostly close to 0, from where it is looked for.
	median, seen := -1, below
	for 2*seen >= n {
		seen -= counts[median+256].sum()
		median--
	}
	for median++; ; median++ {
		if seen += counts[median+256].sum(); 2*seen >= n {
			break
		}
	}
	within := counts[median+256].sum()
	for s.spread = 0; 2*within < n && s.spread < 255; {
		s.spread++
		within += counts[(median+256+int(s.spread))&511].sum() + counts[(median+256-int(s.spread))&511].sum()
	}
	e := exposure{Gain: gainOne, Offset: int32(median)*256 + 128}
	limit := int32(10 * 256)
	if median > 6 || median < -6 { // a large change: least squares need a start that has about the right gain
		e = s.quartiles(values, y, e)
		limit = 20 * 256
	}
	for range 2 {
		next, residual, used := refine(values, y, e, limit)
		if used*5 < n*2 {
			return sameExposure
		}
		e, limit = next, max(384, residual*5/2)
	}
	return e
}

// quartiles estimates the exposure by comparing how the values are spread, whatever stands where. It returns e when the spread says nothing.
func (s *sampler) quartiles(x, y []uint16, e exposure) exposure {
	x1, x3 := s.quartile(x)
	y1, y3 := s.quartile(y)
	if x3-x1 < 6 || y3-y1 < 3 {
		return e
	}
	g := float64(y3-y1) / float64(x3-x1)
	g = max(0.25, min(4, g))
	return exposure{Gain: int32(g * gainOne), Offset: int32((float64(y1+y3) - g*float64(x1+x3)) * 128)}
}

// quartile returns the first and third quartile of the samples, in grey levels.
func (s *sampler) quartile(v []uint16) (first, third int32) {
	clear(s.counts[:])
	n := int32(len(v))
	for k, x := range v {
		s.counts[x>>8][k&3]++
	}
	seen := int32(0)
	first = -1
	for i := range s.counts[:256] {
		seen += s.counts[i].sum()
		if first < 0 && 4*seen >= n {
			first = int32(i)
		}
		if 4*seen >= 3*n {
			return first, int32(i)
		}
	}
	return first, 255
}

// refine is one round of least squares over the points that e explains up to limit. It also returns their mean residual and number.
func refine(x, y []uint16, e exposure, limit int32) (exposure, int32, int32) {
	m := plane.Sum(x, y, plane.Exposure(e), limit)
	if m.N == 0 {
		return e, 0, 0
	}
	n, sx, sy, sxx, sxy, rest := m.N, m.X, m.Y, m.XX, m.XY, m.Rest
	fn := float64(n)
	spread := float64(sxx) - float64(sx)*float64(sx)/fn
	gain := 1.0
	if spread/fn > (4*16)*(4*16) {
		gain = (float64(sxy) - float64(sx)*float64(sy)/fn) / spread
		gain = max(0.25, min(4, gain))
	}
	offset := (float64(sy) - gain*float64(sx)) / fn * 16
	return exposure{Gain: int32(math.Round(gain * gainOne)), Offset: int32(math.Round(offset))}, int32(rest / n), int32(n)
}
