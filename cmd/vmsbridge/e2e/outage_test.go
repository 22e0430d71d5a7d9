package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/uplink/vms"
)

// sceneCamera starts a camera of ours that draws a scene in which a person walks, and returns its
// address.
func sceneCamera(t *testing.T, codec string, more ...string) string {
	t.Helper()
	needProgram(t, "ffmpeg", "ffmpeg")
	port := harness.Port(t)
	cam := start(t, "camsim",
		append([]string{"--listen", fmt.Sprintf("127.0.0.1:%d", port), "--path", "/cam", "--codec", codec}, more...)...)
	address := fmt.Sprintf("rtsp://127.0.0.1:%d/cam", port)
	cam.line(address, 60*time.Second)
	return address
}

// TestEventsSurviveAnOutageAndAKill: the service is away while motion goes on, the bridge is killed
// in between, and in the end the service has every event of the bridge's journal, once.
func TestEventsSurviveAnOutageAndAKill(t *testing.T) {
	t.Parallel()
	const user, password = "admin", "secret-camera-password"
	var cameras strings.Builder
	ids := []string{"h264", "h265", "mjpeg"}
	for _, codec := range ids {
		address := sceneCamera(t, codec, "--user", user, "--password", password)
		cameras.WriteString(cameraYAML(codec, address, "", "auto", user, "camera.password"))
	}
	s := newSite(t, cameras.String())
	s.write("camera.password", password)
	s.startBridge()
	ended := func(id string) (n int) {
		for _, ev := range s.events(id, vms.TypeMotion) {
			if !ev.Ongoing() {
				n++
			}
		}
		return n
	}
	all := func(n int) func() bool {
		return func() bool {
			for _, id := range ids {
				if ended(id) < n {
					return false
				}
			}
			return true
		}
	}
	until(t, 60*time.Second, "the first motion of each camera at the service", all(1))

	s.cloud.kill()
	time.Sleep(13 * time.Second) // the outage itself: a whole period of the scenes without a service
	s.bridge.kill()
	s.startBridge()
	time.Sleep(8 * time.Second) // and more of it, with a bridge that has never seen the service
	s.startCloud()
	until(t, 60*time.Second, "further motion at the service", all(3))
	s.bridge.stop(5 * time.Second)

	// What the bridge's journal holds is what the service holds: nothing missing, nothing twice.
	out := command(t, "vmsbridge", "queue", "list", "--config", s.yaml)
	require.NotContains(t, out, vms.TypeMotion, "the outbox is empty")
	for _, id := range ids {
		var starts []string
		for _, ev := range s.events(id, vms.TypeMotion) {
			require.False(t, ev.Ongoing(), "%s is still going on after the bridge stopped", ev.ID)
			require.NotContains(t, starts, ev.StartTimestamp.String(), "an event is there twice")
			starts = append(starts, ev.StartTimestamp.String())
		}
		require.GreaterOrEqual(t, len(starts), 3)
	}
	for _, p := range []*program{s.bridge, s.cloud} {
		require.NotContains(t, p.output(), password)
		require.NotContains(t, p.output(), s.token)
	}
}
