package figure

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/lab/scene/plate"
)

const width, height = 320, 180

func target() *Target {
	return &Target{Width: width, Height: height, Pix: make([]uint16, width*height), Cover: make([]uint8, width*height),
		Depth: make([]uint8, width*height)}
}

func covered(t *Target) (n, left, right, top, bottom int) {
	left, top = width, height
	for i, c := range t.Cover {
		if c != 0 {
			n++
			left, right = min(left, i%width), max(right, i%width)
			top, bottom = min(top, i/width), max(bottom, i/width)
		}
	}
	return n, left, right, top, bottom
}

// A person is as tall as the pose says, and covers about a tenth of the square of that.
func TestPersonHasItsSize(t *testing.T) {
	for seed := range uint64(20) {
		look := Dress(rand.New(rand.NewPCG(seed, 1)))
		for _, facing := range []float64{-1, 0, 1} {
			g := target()
			look.Draw(g, Pose{X: 0.5, Feet: 0.9, Tall: 0.6, Phase: float64(seed) / 7, Stride: 1, Facing: facing})
			n, _, _, top, bottom := covered(g)
			require.InDelta(t, 0.3*height, top, 6, "seed %d", seed)
			require.InDelta(t, 0.9*height, bottom, 6, "seed %d", seed)
			require.InDelta(t, 0.04, float64(n)/width/height, 0.02, "seed %d", seed)
		}
	}
}

// Who walks moves arms and legs from step to step; who stands does not.
func TestStride(t *testing.T) {
	look := Dress(rand.New(rand.NewPCG(1, 1)))
	draw := func(phase, stride float64) []uint8 {
		g := target()
		look.Draw(g, Pose{X: 0.5, Feet: 0.9, Tall: 0.6, Phase: phase, Stride: stride, Facing: 1})
		return g.Cover
	}
	differ := func(a, b []uint8) (n int) {
		for i := range a {
			if a[i] != b[i] {
				n++
			}
		}
		return n
	}
	require.Greater(t, differ(draw(0.05, 1), draw(0.3, 1)), 200)
	require.Zero(t, differ(draw(0.05, 0), draw(0.3, 0)))
}

// Something nearer hides the legs, something further does not; a door shows its gap only.
func TestWhatHides(t *testing.T) {
	look := Dress(rand.New(rand.NewPCG(1, 1)))
	pose := Pose{X: 0.5, Feet: 0.8, Tall: 0.6, Phase: 0.1, Stride: 1, Facing: 1}
	whole := target()
	look.Draw(whole, pose)
	all, _, _, _, _ := covered(whole)
	for _, tc := range []struct {
		foot  float64
		hides bool
	}{{0.95, true}, {0.7, false}} {
		g := target()
		for i := width * height / 2; i < len(g.Depth); i++ {
			g.Depth[i] = plate.Stands(tc.foot)
		}
		look.Draw(g, pose)
		n, _, _, _, bottom := covered(g)
		require.Equal(t, tc.hides, n < all*3/4)
		require.Equal(t, tc.hides, bottom < height/2)
	}
	g := target()
	g.Left, g.Right = 150, 158
	look.Draw(g, pose)
	_, left, right, _, _ := covered(g)
	require.GreaterOrEqual(t, left, 150)
	require.Less(t, right, 158)
}

func TestCarAndCrawlerStayWithinThePicture(t *testing.T) {
	car := Car{Body: Tone{Day: 100}, Glass: Tone{Day: 30}, Wheels: Tone{Day: 20}, Lamps: 1}
	look := Dress(rand.New(rand.NewPCG(1, 1)))
	for x := -0.5; x < 1.5; x += 0.1 {
		for _, van := range []bool{false, true} {
			car.Van = van
			car.Draw(target(), x, 0.9, 0.5, 1)
			car.Draw(target(), x, 1.2, 1.1, -1)
		}
		look.Draw(target(), Pose{X: x, Feet: 0.95, Tall: 0.5, Crawls: true, Shadow: 0.3})
	}
	g := target()
	look.Draw(g, Pose{X: 0.5, Feet: 0.9, Tall: 0.6, Crawls: true})
	n, left, right, top, bottom := covered(g)
	require.Greater(t, n, 500)
	require.Greater(t, right-left, bottom-top, "who crawls is longer than high")
}
