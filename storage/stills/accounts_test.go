package stills

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vmsbridge/storage/stills/segment"
)

// TestShare draws what cameras store and when: none that stays within the quota in every 24 hours
// is ever sent to the loud lane, and in no 24 hours does the quiet lane take more than half of the
// ring, but for one still a camera.
func TestShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const cameras, most = 3, 50_000
		s := newAccounts(12<<20, 1<<20, cameras)
		quota := 12 << 20 / 4 / cameras
		type stored struct {
			at     time.Duration
			camera string
			size   int
			lane   int
		}
		var list []stored
		up := time.Duration(0)
		for range rapid.IntRange(100, 400).Draw(t, "stills") {
			up += time.Duration(rapid.IntRange(0, 4000).Draw(t, "pause")) * time.Second
			n := stored{up, fmt.Sprint(rapid.IntRange(1, cameras).Draw(t, "camera")),
				rapid.IntRange(1, most).Draw(t, "size"), 0}
			n.lane = s.lane(n.camera, uint32(n.size), up)
			list = append(list, n)
		}
		for i, last := range list {
			quietBytes, all := 0, 0
			for _, n := range list[:i+1] {
				if last.at-n.at >= day {
					continue
				}
				if n.lane == segment.Quiet {
					quietBytes += n.size
				}
				if n.camera == last.camera {
					all += n.size
				}
			}
			require.LessOrEqual(t, quietBytes, 12<<20/2+cameras*most)
			if last.lane == segment.Loud {
				require.Greater(t, all+most, quota, "a camera within its quota was taken for a loud one")
			}
		}
	})
}

// TestShareOfOne leaves a camera that is alone in peace, and a ring that is too small for two
// lanes.
func TestShareOfOne(t *testing.T) {
	for _, o := range []struct {
		maxBytes int64
		cameras  int
	}{{16 << 20, 0}, {7 << 20, 5}} {
		s := newAccounts(o.maxBytes, 1<<20, o.cameras)
		for range 1000 {
			require.Equal(t, segment.Quiet, s.lane("cam", 1<<20, 0))
		}
	}
}
