package exposure

import (
	"math"

	"vmsbridge/motion/plane"
	"vmsbridge/motion/tally"
)

// fitSamples is about how many cells the fit of the exposure looks at.
const fitSamples = 900

// Fitter fits exposures on a fixed choice of cells. The samples of a picture, its values at these
// cells, are taken once and kept with it: see take.
type Fitter struct {
	At     []int32  // cells to look at
	Ground []uint16 // the samples of the background
	y      []uint16 // the samples that the fits look at, 0 where they do not
	skip   []uint16 // tally.None where they do not, and beyond the last sample
	n      int      // of the others
	steps  []uint16 // from the samples of the last fit, in grey levels: see tally.Steps
	median int      // of these
	level  [4]int   // where quartiles were last found
}

// Choose spreads the samples over the cells that are not masked.
func (s *Fitter) Choose(mask []byte) {
	step := max(1, len(mask)/fitSamples)
	if step > 1 {
		step |= 1 // so that rows of an even width are not always met in the same columns
	}
	s.At = s.At[:0]
	for i := 0; i < len(mask); i += step {
		if mask[i] != 0 {
			s.At = append(s.At, int32(i))
		}
	}
	s.Ground, s.y, s.skip, s.steps = s.Samples(), s.Samples(), s.Samples(), s.Samples()
	s.n, s.median, s.level = 0, tally.Same, [4]int{}
	for k := range s.skip {
		s.skip[k], s.steps[k] = tally.None, tally.None
	}
}

// Samples makes room for the samples of a picture. There are some more than cells to look at, so
// that they fill vectors: those are 0, and skipped.
func (s *Fitter) Samples() []uint16 { return make([]uint16, (len(s.At)+15)&^15) }

// Take writes the samples of cells.
func (s *Fitter) Take(cells, samples []uint16) { plane.Pick(cells, s.At, samples) }

// Look chooses for the fits that follow the samples y, of the cells without a bit of skip in flags.
func (s *Fitter) Look(y []uint16, flags []byte, skip byte) {
	plane.Flagged(flags, s.At, skip, s.skip)
	s.n = tally.AtMost(s.skip, s.skip, 0)
	s.Again(y)
}

// Again is look for the flags of the last time.
func (s *Fitter) Again(y []uint16) { tally.Without(s.y, y, s.skip) }

// Fit finds the exposure that takes the samples x to what was last looked at, by trimmed least
// squares that start from the median difference. When less than two fifths of the samples agree on
// one exposure, nothing is compensated.
func (s *Fitter) Fit(x []uint16) plane.Exposure {
	if s.n < 16 {
		return plane.Same
	}
	tally.Steps(x, s.y, s.skip, s.steps)
	s.median = tally.Least(s.steps, s.skip, 0, (s.n+1)/2, tally.Same, 2*tally.Same-1) // mostly close to 0
	median := int32(s.median - tally.Same)
	e := plane.Exposure{Gain: plane.GainOne, Offset: median*256 + 128}
	limit := int32(10 * 256)
	if median > 6 || median < -6 { // a large change: least squares need a start that has about the right gain
		e = s.quartiles(x, e)
		limit = 20 * 256
	}
	for range 2 {
		next, residual, used := refine(x, s.y, e, limit)
		if int(used)*5 < s.n*2 {
			return plane.Same
		}
		e, limit = next, max(384, residual*5/2)
	}
	return e
}

// Spread is that of the differences in the last fit, around their median, in grey levels: half of
// them are within.
func (s *Fitter) Spread() (spread int) {
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

// quartiles estimates the exposure by comparing how the values are spread, whatever stands where.
// It returns e when the spread says nothing.
func (s *Fitter) quartiles(x []uint16, e plane.Exposure) plane.Exposure {
	x1, x3 := s.quartile(x, 1, &s.level[0]), s.quartile(x, 3, &s.level[1])
	y1, y3 := s.quartile(s.y, 1, &s.level[2]), s.quartile(s.y, 3, &s.level[3])
	if x3-x1 < 6 || y3-y1 < 3 {
		return e
	}
	g := float64(y3-y1) / float64(x3-x1)
	g = max(0.25, min(4, g))
	return plane.Exposure{Gain: int32(g * plane.GainOne), Offset: int32((float64(y1+y3) - g*float64(x1+x3)) * 128)}
}

// quartile returns one of the three quartiles of the samples, in grey levels. It is looked for
// around guess, which it becomes.
func (s *Fitter) quartile(samples []uint16, which int, guess *int) int32 {
	*guess = tally.Least(samples, s.skip, 8, (which*s.n+3)/4, *guess, 255)
	return int32(*guess)
}

// refine is one round of least squares over the points that e explains up to limit. It also returns
// their mean residual and number.
func refine(x, y []uint16, e plane.Exposure, limit int32) (plane.Exposure, int32, int32) {
	m := plane.Sum(x, y, e, limit)
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
	return plane.Exposure{Gain: int32(math.Round(gain * plane.GainOne)), Offset: int32(math.Round(offset))},
		int32(rest / n), int32(n)
}
