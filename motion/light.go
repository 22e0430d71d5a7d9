package motion

import (
	"math"

	"vmsbridge/motion/plane"
	"vmsbridge/motion/tally"
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

// sampler fits exposures on a fixed choice of cells. The samples of a picture, its values at these cells, are taken once and kept with it: see take.
type sampler struct {
	at     []int32  // cells to look at
	ground []uint16 // the samples of the background
	y      []uint16 // the samples that the fits look at, 0 where they do not
	skip   []uint16 // tally.None where they do not, and beyond the last sample
	n      int      // of the others
	steps  []uint16 // from the samples of the last fit, in grey levels: see tally.Steps
	median int      // of these
	level  [4]int   // where quartiles were last found
}

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
	s.ground, s.y, s.skip, s.steps = s.samples(), s.samples(), s.samples(), s.samples()
	s.n, s.median, s.level = 0, tally.Same, [4]int{}
	for k := range s.skip {
		s.skip[k], s.steps[k] = tally.None, tally.None
	}
}

// samples makes room for the samples of a picture. There are some more than cells to look at, so that they fill vectors: those are 0, and skipped.
func (s *sampler) samples() []uint16 { return make([]uint16, (len(s.at)+15)&^15) }

// take writes the samples of cells. It is a function of its own, as in a larger one the loop would have to do without registers.
//
//go:noinline
func (s *sampler) take(cells, samples []uint16) {
	at := s.at
	for ; len(at) >= 4 && len(samples) >= 4; at, samples = at[4:], samples[4:] {
		samples[0], samples[1], samples[2], samples[3] = cells[at[0]], cells[at[1]], cells[at[2]], cells[at[3]]
	}
	for k, i := range at {
		samples[k] = cells[i]
	}
}

// look chooses for the fits that follow the samples y, of the cells without a bit of skip in flags.
func (s *sampler) look(y []uint16, flags []byte, skip byte) {
	s.pass(flags, skip)
	s.n = tally.AtMost(s.skip, s.skip, 0)
	s.again(y)
}

// again is look for the flags of the last time.
func (s *sampler) again(y []uint16) { tally.Without(s.y, y, s.skip) }

// pass passes over the samples of the cells with a bit of skip in flags. It is kept apart as take is.
//
//go:noinline
func (s *sampler) pass(flags []byte, skip byte) {
	none := func(f byte) uint16 { return uint16(-int16(f&skip) >> 15) } // all bits with a bit of skip: no branch to be guessed
	at, off := s.at, s.skip
	for ; len(at) >= 4 && len(off) >= 4; at, off = at[4:], off[4:] {
		off[0], off[1], off[2], off[3] = none(flags[at[0]]), none(flags[at[1]]), none(flags[at[2]]), none(flags[at[3]])
	}
	for k, i := range at {
		off[k] = none(flags[i])
	}
}

// fit finds the exposure that takes the samples x to what was last looked at, by trimmed least squares that start from the median difference. When less than
// two fifths of the samples agree on one exposure, nothing is compensated.
func (s *sampler) fit(x []uint16) exposure {
	if s.n < 16 {
		return sameExposure
	}
	tally.Steps(x, s.y, s.skip, s.steps)
	s.median = tally.Least(s.steps, s.skip, 0, (s.n+1)/2, tally.Same, 2*tally.Same-1) // mostly close to 0
	median := int32(s.median - tally.Same)
	e := exposure{Gain: gainOne, Offset: median*256 + 128}
	limit := int32(10 * 256)
	if median > 6 || median < -6 { // a large change: least squares need a start that has about the right gain
		e = s.quartiles(x, e)
		limit = 20 * 256
	}
	for range 2 {
		next, residual, used := refine(x, s.y, e, limit)
		if int(used)*5 < s.n*2 {
			return sameExposure
		}
		e, limit = next, max(384, residual*5/2)
	}
	return e
}

// spread is that of the differences in the last fit, around their median, in grey levels: half of them are within.
func (s *sampler) spread() (spread int) {
	var counts [2 * tally.Same]int
	n := 0
	for _, v := range s.steps {
		if v != tally.None {
			counts[v]++
			n++
		}
	}
	for within := counts[s.median]; 2*within < n && spread < tally.Same-1; {
		spread++
		within += counts[(s.median+spread)%len(counts)] + counts[(s.median-spread+len(counts))%len(counts)]
	}
	return spread
}

// quartiles estimates the exposure by comparing how the values are spread, whatever stands where. It returns e when the spread says nothing.
func (s *sampler) quartiles(x []uint16, e exposure) exposure {
	x1, x3 := s.quartile(x, 1, &s.level[0]), s.quartile(x, 3, &s.level[1])
	y1, y3 := s.quartile(s.y, 1, &s.level[2]), s.quartile(s.y, 3, &s.level[3])
	if x3-x1 < 6 || y3-y1 < 3 {
		return e
	}
	g := float64(y3-y1) / float64(x3-x1)
	g = max(0.25, min(4, g))
	return exposure{Gain: int32(g * gainOne), Offset: int32((float64(y1+y3) - g*float64(x1+x3)) * 128)}
}

// quartile returns one of the three quartiles of the samples, in grey levels. It is looked for around guess, which it becomes.
func (s *sampler) quartile(samples []uint16, which int, guess *int) int32 {
	*guess = tally.Least(samples, s.skip, 8, (which*s.n+3)/4, *guess, 255)
	return int32(*guess)
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
