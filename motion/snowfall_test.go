package motion_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
)

// TestBlizzardHidesNobody: who walks far away in a blizzard is no larger than the flakes, and is
// found all the same; the flakes alone are nobody.
func TestBlizzardHidesNobody(t *testing.T) {
	for seed := range scenesOf(4) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			s, fall := newScene(320, 180, 71+seed, 2), snowfall(150, seed)
			const enters, speed = 14.0, 0.1
			leaves := enters + 1.04/speed
			got := watch(t, motion.Config{}, s, 10, 30*time.Second, func(at float64) {
				if at >= enters {
					s.thing(-0.04+speed*(at-enters), 0.45, 0.03, 0.11, 40, 20)
				}
				fall(s, at)
			})
			require.Len(t, got.began, 1, first(got))
			require.InDelta(t, enters, offset(got.began[0].Start), 1.3)
			require.InDelta(t, leaves, offset(got.ended[0].Last), 1.3)
		})
	}
}
