package exposure

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lit is a scene of 160x90 cells, in 1/256 grey levels, whose rows a lamp lights by up to depth
// more or less, in bands that stand at phase.
func lit(depth, phase float64, r *rand.Rand) []uint16 {
	cells := make([]uint16, 160*90)
	for i := range cells {
		x, y := float64(i%160), float64(i/160)
		v := 110 + 40*math.Sin(x/9)*math.Cos(y/6)
		cells[i] = uint16(256*v*(1+depth*math.Sin(y/14+phase)) + 100*r.NormFloat64())
	}
	return cells
}

// TestBandsAreEvened: bands that wander are found within seconds, and then each row is as bright as
// in the background; once they are gone, so is that.
func TestBandsAreEvened(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	background, mask := lit(0, 0, r), make([]byte, 160*90)
	for i := range mask {
		mask[i] = 255
	}
	var f Fitter
	f.Choose(mask)
	var b Bands
	b.Resize(160, 90, f.At)
	was, is := f.Samples(), f.Samples()
	f.Take(background, was)
	at, turns := time.Duration(0), 0
	show := func(depth float64, seconds int) (off float64) {
		for i := range 10 * seconds {
			now := lit(depth, float64(i)*0.9, r)
			f.Take(now, is)
			if at += 100 * time.Millisecond; b.Run(background, now, was, is, at) {
				turns++
			}
			off = 0
			for k, v := range now {
				off += math.Abs(float64(v)-float64(background[k])) / 256 / float64(len(now))
			}
		}
		return off
	}
	show(0, 5)
	require.False(t, b.On, "nothing wanders")
	off := show(0.1, 6)
	require.True(t, b.On)
	require.Equal(t, 1, turns)
	require.Less(t, off, 1.5, "grey levels, of 7 that the lamp makes on the mean")
	show(0, 25)
	require.False(t, b.On)
	require.Equal(t, 2, turns)
}
