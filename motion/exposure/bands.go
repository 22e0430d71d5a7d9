package exposure

import (
	"math"
	"math/bits"
	"time"

	"vmsbridge/motion/plane"
)

// Lamps at the mains beat with a shutter that reads row after row: bands that are darker or
// brighter wander over the picture. They would be learned as noise, and hide who walks.
const (
	bandCount  = 12                      // strips of rows, whose brightness is followed to see whether there are bands
	bandCut    = 24 << 8                 // by which a cell may differ from the background to be taken
	bandLeast  = 160                     // by which a strip must change against the whole, in 1/256 grey levels
	bandParts  = 3                       // of its width, that must change alike
	bandCells  = 8                       // to be looked at in each part, at least
	bandSure   = 2.5                     // times what its noise makes of that
	bandShare  = 3                       // one of so many strips must change
	bandsAfter = 1800 * time.Millisecond // of that, after which the rows are put right
	bandsLast  = 20 * time.Second        // without it, after which they no longer are
	bandsUntil = 0.25                    // of the time without it takes away from what was counted
	bandRows   = 3                       // rows on each side that share a gain
	bandFills  = 0.3                     // of a row's cells that must agree for the row to count
)

// Bands puts the brightness of the rows right, one by one, when that is found to wander. Its zero
// value looks for it.
type Bands struct {
	On       bool
	wait     int // pictures until it is looked for again: three and four in turn, so that no rate of wandering hides
	turn     int
	profile  [bandParts][bandCount]float64 // of the last time, around its mean, in 1/256 grey levels
	known    bool
	counted  time.Duration
	lookedAt time.Duration
	seenAt   time.Duration
	width    int
	gains    []float64 // of the rows
	weights  []float64
	strips   [bandParts * bandCount][]int32 // the samples of the strips, of one part of the width after another
}

// Resize prepares for width x height cells, of which those at are the samples.
func (b *Bands) Resize(width, height int, at []int32) {
	*b = Bands{width: width, gains: make([]float64, height), weights: make([]float64, height)}
	for k, i := range at {
		strip := &b.strips[int(i)%width*bandParts/width*bandCount+int(i)*bandCount/(width*height)]
		*strip = append(*strip, int32(k))
	}
}

// Run looks at the samples of the background and of a picture whether bands wander and, if they do,
// puts the cells of the picture right, in place. It tells whether it began or ceased to do so: what
// was learned holds no longer then.
func (b *Bands) Run(background, cells, was, is []uint16, now time.Duration) (turned bool) {
	if b.wait--; b.wait < 0 {
		b.turn = 1 - b.turn
		b.wait = 2 + b.turn
		turned = b.look(was, is, now)
	}
	if b.On && !turned {
		b.even(background, cells)
	}
	return turned
}

// look compares the strips of the picture with those of the last time. A strip has changed when all
// parts of its width did so together: what moves is not everywhere.
func (b *Bands) look(was, is []uint16, now time.Duration) (turned bool) {
	var sums, counts, rests [bandParts][bandCount]float64
	mean, all := 0.0, 0.0
	for p, strip := range b.strips {
		sum, count, rest := 0, 0, 0
		for _, k := range strip {
			r := int(is[k]) - int(was[k])
			size := max(r, -r)
			taken := (size - bandCut) >> (bits.UintSize - 1) // all bits if it is less: what moves is hard to guess
			sum, count, rest = sum+r&taken, count-taken, rest+size&taken
		}
		c, k := p/bandCount, p%bandCount
		sums[c][k], counts[c][k], rests[c][k] = float64(sum), float64(count), float64(rest)
		mean, all = mean+sums[c][k], all+counts[c][k]
	}
	mean /= max(1, all)
	up, down := 0, 0
	for k := range bandCount {
		rises, falls := 0, 0
		for c := range bandParts {
			v, n := math.NaN(), counts[c][k]
			if n >= bandCells {
				v = sums[c][k]/n - mean
			}
			least := max(bandLeast, bandSure*rests[c][k]/max(1, n*math.Sqrt(n)))
			switch d := v - b.profile[c][k]; {
			case d > least:
				rises++
			case d < -least:
				falls++
			}
			b.profile[c][k] = v
		}
		up, down = up+rises/bandParts, down+falls/bandParts
	}
	passed := min(now-b.lookedAt, time.Second)
	b.lookedAt = now
	if b.known && up+down >= bandCount/bandShare && up > 0 && down > 0 {
		b.counted, b.seenAt = min(b.counted+passed, 2*bandsAfter), now
	} else {
		b.counted -= min(b.counted, time.Duration(float64(passed)*bandsUntil))
	}
	b.known = true
	if !b.On && b.counted >= bandsAfter || b.On && now-b.seenAt > bandsLast {
		b.On, b.known = !b.On, false
		return true
	}
	return false
}

// even gives each row the brightness that it has in the background: the gain that most of its
// cells, and of those around, agree on.
func (b *Bands) even(background, cells []uint16) {
	for y := range b.gains {
		x, v := background[y*b.width:(y+1)*b.width], cells[y*b.width:(y+1)*b.width]
		e := plane.Same
		limit := int32(bandCut)
		var m plane.Moments
		for range 2 {
			m = plane.Sum(x, v, e, limit)
			if float64(m.N) < bandFills*float64(b.width) || m.X == 0 {
				m = plane.Moments{}
				break
			}
			e.Gain = int32(float64(m.Y) / float64(m.X) * plane.GainOne)
			limit = max(512, int32(m.Rest/m.N)*5/2)
		}
		b.gains[y], b.weights[y] = float64(m.Y), float64(m.X)
	}
	for y := range b.gains {
		is, was := 0.0, 0.0
		for j := max(0, y-bandRows); j <= min(len(b.gains)-1, y+bandRows); j++ {
			is, was = is+b.gains[j], was+b.weights[j]
		}
		if is > 0 && was > 0 {
			plane.Expose(cells[y*b.width:(y+1)*b.width],
				plane.Exposure{Gain: int32(math.Round(was / is * plane.GainOne))})
		}
	}
}
