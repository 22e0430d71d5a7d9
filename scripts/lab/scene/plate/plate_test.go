package plate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNewRefuses(t *testing.T) {
	_, err := New("beach", Options{Width: 64, Height: 48})
	require.ErrorContains(t, err, "there are office, corridor")
}

// One seed gives one place, whatever the size: reduced to blocks, it looks the same.
func TestSamePlaceInAllSizes(t *testing.T) {
	coarse := func(p *Plate) (grid [8][12]float64) {
		for j := range grid {
			for i := range grid[j] {
				sum, n := 0.0, 0
				for y := j * p.Height / 8; y < (j+1)*p.Height/8; y++ {
					for x := i * p.Width / 12; x < (i+1)*p.Width/12; x++ {
						sum += math.Sqrt(float64(p.Reflects[y*p.Width+x]) / White)
						n++
					}
				}
				grid[j][i] = sum / float64(n)
			}
		}
		return grid
	}
	for _, kind := range Kinds() {
		small, err := New(kind, Options{Width: 160, Height: 90, Seed: 4, Tree: true})
		require.NoError(t, err)
		large, err := New(kind, Options{Width: 800, Height: 450, Seed: 4, Tree: true})
		require.NoError(t, err)
		other, err := New(kind, Options{Width: 160, Height: 90, Seed: 5})
		require.NoError(t, err)
		a, b, c := coarse(small), coarse(large), coarse(other)
		same, differs := 0.0, 0.0
		for j := range a {
			for i := range a[j] {
				same, differs = max(same, math.Abs(a[j][i]-b[j][i])), max(differs, math.Abs(a[j][i]-c[j][i]))
			}
		}
		require.Less(t, same, 0.06, kind)
		require.Greater(t, differs, 0.1, kind)
		require.NotNil(t, small.Tree, kind)
		require.Nil(t, other.Tree, kind)
		require.Equal(t, Outdoors(kind), small.Outdoors)
	}
}

// Each light falls somewhere, and a lamp not everywhere alike: switching it changes more than the
// brightness.
func TestLights(t *testing.T) {
	for _, kind := range Kinds() {
		p, err := New(kind, Options{Width: 160, Height: 90, Seed: 4})
		require.NoError(t, err)
		for k, light := range p.Lights {
			low, high := math.Inf(1), 0.0
			for _, l := range light {
				low, high = min(low, float64(l)/Unit), max(high, float64(l)/Unit)
			}
			require.Greater(t, high, 0.3, "%s light %d", kind, k)
			if k == Lamp {
				require.Greater(t, high, 1.5*low, kind)
			}
		}
	}
}

func BenchmarkNew(b *testing.B) { // go test -run '^$' -bench . ./scene/plate
	for b.Loop() {
		_, err := New("street", Options{Width: 320, Height: 180, Seed: 1})
		require.NoError(b, err)
	}
}
