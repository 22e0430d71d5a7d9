package configs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vmsbridge/configs"
	"vmsbridge/motion"
	"vmsbridge/motion/rule"
)

// What passes here is never refused later: a motion configuration that Parse accepts is one that
// the detector accepts. The corners lie on a coarse grid, so that sides cross, touch and fold back
// often.
func TestAcceptedMotionIsAcceptedByTheDetector(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		corner := rapid.Custom(func(t *rapid.T) [2]float64 {
			return [2]float64{float64(rapid.IntRange(0, 4).Draw(t, "x")) / 4,
				float64(rapid.IntRange(0, 4).Draw(t, "y")) / 4}
		})
		area := rapid.SliceOfN(corner, 2, 5).Draw(t, "area")
		var corners []string
		for _, c := range area {
			corners = append(corners, fmt.Sprintf("[%v, %v]", c[0], c[1]))
		}
		text := "[" + strings.Join(corners, ", ") + "]"
		shortest := rapid.SampledFrom([]string{"0s", "1s", "20s", "1m"}).Draw(t, "min")
		longest := rapid.SampledFrom([]string{"10s", "20s", "24h"}).Draw(t, "max")
		cfg, err := configs.Parse("x.yaml", fmt.Appendf(nil, `
cameras: [{id: a, url: "rtsp://h/", motion: {min_duration: %s, max_duration: %s, masks: [%s], regions: [{id: r, area: %s}], lines: [{id: l, points: %s}], areas: [{id: r, area: %s}]}}]
`, shortest, longest, text, text, text, text))
		if err != nil {
			return
		}
		accepted++
		m := cfg.Cameras[0].Motion
		_, err = motion.New(motion.Config{Sensitivity: m.Sensitivity, MinDuration: m.MinDuration,
			MaxDuration: m.MaxDuration, QuietPeriod: m.QuietPeriod,
			Masks: []motion.Polygon{motion.Polygon(m.Masks[0])},
			Regions: []motion.Region{{ID: m.Regions[0].ID, Area: motion.Polygon(m.Regions[0].Area),
				Sensitivity: m.Regions[0].Sensitivity}}})
		require.NoError(t, err, "%s", text)
		_, err = rule.New(rule.Config{Lines: []rule.Line{{ID: "l", Points: m.Lines[0].Points,
			Direction: rule.Direction(m.Lines[0].Direction)}},
			Areas: []rule.Area{{ID: "r", Outline: motion.Polygon(m.Areas[0].Area), Intrusion: m.Areas[0].Intrusion}}})
		require.NoError(t, err, "%s", text)
	})
	require.Positive(t, accepted, "nothing was accepted")
}
