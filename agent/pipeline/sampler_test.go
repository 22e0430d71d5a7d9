package pipeline

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/configs"
	"vmsbridge/motion"
)

func TestPace(t *testing.T) {
	epoch := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		rate, camera float64
		want         int // of 10 seconds of pictures
	}{
		"all of a camera at the wanted rate": {10, 10, 100},
		"all of a slower one":                {10, 4, 40},
		"all of one a little faster":         {10, 12, 120},
		"every second of 25":                 {10, 25, 125},
		"every third of 30":                  {10, 30, 100},
		"every one without a rate":           {0, 30, 300},
	} {
		p, n := NewSampler(c.rate), 0
		for i := range int(10 * c.camera) {
			if at := epoch.Add(time.Duration(float64(i) / c.camera * float64(time.Second))); p.Due(at) {
				n++
				require.Equal(t, at, p.Last())
			}
		}
		require.Equal(t, c.want, n, name)
	}
	p := NewSampler(10)
	require.True(t, p.Due(epoch))
	require.False(t, p.Due(epoch.Add(10*time.Millisecond)))
	require.True(t, p.Due(epoch.Add(-time.Hour)), "the clock was set back")
}

// Luma is asked for of every picture that is due, whatever the clock does, and of no others where
// times are of whole intervals.
func TestLumaIsAskedForOfWhatIsDue(t *testing.T) {
	for _, rate := range []float64{0, 3, 7, 10, 30} {
		p, r, left := NewSampler(rate), rand.New(rand.NewPCG(1, 2)), 0
		for at, i := epoch, 0; i < 2000; i++ {
			at = at.Add(time.Duration(r.IntN(100)) * time.Millisecond)
			if i%100 == 99 {
				at = at.Add(-time.Minute)
			}
			asked := at.UnixMicro() >= p.From(at).UnixMicro()
			require.Equal(t, p.Due(at), asked, "%v a second", rate)
			if !asked {
				left++
			}
		}
		require.Equal(t, rate > 0, left > 0)
	}
}

// The reference of the configuration names the times that the detector takes where none are set.
func TestReferenceNamesTheDefaults(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "configs", "REFERENCE.md"))
	require.NoError(t, err)
	for key, d := range map[string]time.Duration{"quiet_period": motion.DefaultQuietPeriod,
		"max_duration": motion.DefaultMaxDuration} {
		require.Regexp(t, "(?m)^\\| `motion\\."+key+"` .*\\b"+regexp.QuoteMeta(strings.TrimSuffix(d.String(), "0s"))+
			"\\b", string(text))
	}
}

func TestConfig(t *testing.T) {
	area := [][2]float64{{0, 0}, {1, 0}, {1, 1}}
	got := DetectorConfig(configs.CameraMotion{
		Motion: configs.Motion{Sensitivity: 0.7, Rate: 5, QuietPeriod: 2 * time.Second, MinDuration: time.Second,
			MaxDuration: time.Minute},
		Masks:   []configs.Polygon{area},
		Regions: []configs.Region{{ID: "door", Name: "Door", Area: area, Sensitivity: 0.8}},
	})
	require.Equal(t, motion.Config{Sensitivity: 0.7, QuietPeriod: 2 * time.Second, MinDuration: time.Second,
		MaxDuration: time.Minute,
		Masks:       []motion.Polygon{area},
		Regions:     []motion.Region{{ID: "door", Name: "Door", Area: area, Sensitivity: 0.8}}}, got)
	_, err := motion.New(got)
	require.NoError(t, err)
}
