package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPacketsLostForEver: a camera of whose packets some are lost again and again is online, and
// has motions, some of them later or not at all. The bridge says so, and of no other camera.
func TestPacketsLostForEver(t *testing.T) {
	t.Parallel()
	s := newSite(t, cameraYAML("torn", sceneCamera(t, "h264", "--misbehave", "loss=100"), "", "tcp", "", "")+
		cameraYAML("whole", sceneCamera(t, "h264"), "", "tcp", "", ""))
	s.startBridge()
	torn := func() bool {
		return slices.ContainsFunc(s.health().Problems, func(p string) bool {
			return strings.Contains(p, "packets of a camera are lost on their way")
		})
	}
	require.False(t, torn())
	until(t, 2*time.Minute, "the bridge to say that packets are lost", torn)
	out, _, _ := try(t, "vmsbridge", "status", "--config", s.yaml)
	require.Regexp(t, `[0-9]+ % of the pictures of Camera torn in the last minute are torn`, out)
	require.NotContains(t, out, "of Camera whole in the last minute")
	require.Contains(t, out, "cable or Wi-Fi")
}
