package lens

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/lab/scene/plate"
)

const width, height = 160, 90

// flat is a radiance of one level.
func flat(level uint16) []uint16 {
	p := make([]uint16, width*height)
	for i := range p {
		p[i] = level
	}
	return p
}

// takes takes n pictures of a radiance.
func takes(c *Camera, radiance []uint16, n int) [][]byte {
	var all [][]byte
	for i := range n {
		dst := make([]byte, width*height)
		c.Take(radiance, Shot{Number: i, Gain: 1, Noise: 1}, dst)
		c.Encode(i, dst)
		all = append(all, dst)
	}
	return all
}

// change is the root mean square of what differs between two pictures.
func change(a, b []byte) float64 {
	sum := 0.0
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(a)))
}

func TestNoiseIsAsStrongAsItSays(t *testing.T) {
	for _, grain := range []float64{0, 1} {
		for _, sigma := range []float64{0, 2, 8} {
			c := New(Options{Width: width, Height: height, Noise: sigma, Grain: grain, Seed: 3})
			p := takes(c, flat(8000), 2)
			// Two pictures differ by both their noises; rounding adds a little, the level is not
			// quite medium grey.
			require.InDelta(t, sigma*math.Sqrt2, change(p[0], p[1]), 0.25+0.2*sigma, "sigma %v grain %v", sigma, grain)
		}
	}
}

func TestNoiseReductionCalmsWhatStands(t *testing.T) {
	plain := takes(New(Options{Width: width, Height: height, Noise: 6, Seed: 3}), flat(8000), 20)
	calm := takes(New(Options{Width: width, Height: height, Noise: 6, Smear: 0.7, Seed: 3}), flat(8000), 20)
	require.Less(t, change(calm[18], calm[19]), 0.75*change(plain[18], plain[19]))
}

func TestBrighterIsBrighter(t *testing.T) {
	c := New(Options{Width: width, Height: height, Contrast: 0.5})
	before := -1.0
	for r := 0.0; r < 65535; r += 256 {
		level := c.Level(r)
		require.GreaterOrEqual(t, level, before)
		before = level
	}
	require.Greater(t, c.Level(plate.White), 200.0)
	require.Less(t, c.Level(0), 1.0)
}

// Between keyframes a codec skips what hardly differs, so that its noise stands still; a keyframe
// renders it anew. What changes is coded at once.
func TestCodecPulses(t *testing.T) {
	scene := flat(8000)
	for i := range scene {
		scene[i] += uint16(3000 * (1 + math.Sin(float64(i%width)/5)))
	}
	c := New(Options{Width: width, Height: height, Noise: 1.5, Quality: 6, GOP: 10, Seed: 3})
	p := takes(c, scene, 21)
	require.Less(t, change(p[14], p[15]), 0.3, "between keyframes")
	require.Greater(t, change(p[9], p[10]), 3*change(p[14], p[15])+0.2, "at a keyframe")
	require.Less(t, change(p[9], p[10]), 8.0, "at a keyframe")
	for y := 20; y < 60; y++ {
		for x := 40; x < 80; x++ {
			scene[y*width+x] = 500
		}
	}
	dst := make([]byte, width*height)
	c.Take(scene, Shot{Number: 21, Gain: 1, Noise: 1}, dst)
	c.Encode(21, dst)
	require.Less(t, int(dst[40*width+60]), 60)
}

func TestRollingRows(t *testing.T) {
	rows := make([]float64, height)
	for y := range rows {
		rows[y] = 0.3
		if y >= height/2 {
			rows[y] = 1
		}
	}
	dst := make([]byte, width*height)
	New(Options{Width: width, Height: height}).Take(flat(8000), Shot{Gain: 1, Noise: 1, Rows: rows}, dst)
	require.Less(t, int(dst[0])+30, int(dst[len(dst)-1]))
}
