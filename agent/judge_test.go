package agent

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/status"
)

// A camera that is being connected to for the first time is no problem for a while; one that cannot be reached is one at once.
func TestWhichCamerasAreAProblem(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		state camera.State
		since time.Duration
		wrong string
	}{
		{camera.Online, time.Hour, ""},
		{camera.Connecting, 0, ""},
		{camera.Connecting, 14 * time.Second, ""},
		{camera.Connecting, 15 * time.Second, "1 camera is not online: gate (connecting)"},
		{camera.Unreachable, 0, "1 camera is not online: gate (unreachable)"},
		{status.Off, time.Hour, ""},
	} {
		r := status.Report{Time: now, Cameras: []status.Camera{{ID: "gate", State: string(c.state), Online: c.state == camera.Online, Since: now.Add(-c.since)}}}
		judgeCameras(&r, func(_ status.Kind, _, _, format string, args ...any) {
			require.Equal(t, c.wrong, fmt.Sprintf(format, args...))
			c.wrong = ""
		})
		require.Empty(t, c.wrong)
	}
}
