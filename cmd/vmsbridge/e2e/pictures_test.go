package e2e

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
)

// TestThePictureOfAMotionAtTheBroker: when a motion before a real camera has ended, its best
// picture lies at the broker, a JPEG that can be decoded.
func TestThePictureOfAMotionAtTheBroker(t *testing.T) {
	t.Parallel()
	mosquitto, err := exec.LookPath("mosquitto")
	if err != nil {
		mosquitto = "/usr/sbin/mosquitto"
	}
	mosquitto = needProgram(t, mosquitto, "mosquitto")
	sub := needProgram(t, "mosquitto_sub", "mosquitto-clients")
	port := harness.Port(t)
	s := newSite(t, cameraYAML("gate", sceneCamera(t, "mjpeg"), "", "auto", "", ""),
		fmt.Sprintf("mqtt: {url: 'mqtt://127.0.0.1:%d'}", port))
	conf := s.write("mosquitto.conf", fmt.Sprintf("listener %d 127.0.0.1\nallow_anonymous true\nuser root\n", port))
	start(t, mosquitto, "-c", conf, "-v").line("running", 10*time.Second)
	s.startBridge()
	var picture []byte
	until(t, 2*time.Minute, "the picture of a motion", func() bool {
		picture, _ = exec.Command(sub, "-h", "127.0.0.1", "-p", fmt.Sprint(port), "-t", "vmsbridge/bridge-1/gate/image",
			"-C", "1", "-W", "3", "-N").Output()
		return len(picture) > 0
	})
	got, err := jpeg.Decode(bytes.NewReader(picture))
	require.NoError(t, err)
	require.Equal(t, 640, got.Bounds().Dx())
	told, err := exec.Command(sub, "-h", "127.0.0.1", "-p", fmt.Sprint(port), "-t", "homeassistant/image/#", "-C", "1",
		"-W", "10").Output()
	require.NoError(t, err)
	require.Contains(t, string(told),
		`"image_topic":"vmsbridge/bridge-1/gate/image"`)
}
