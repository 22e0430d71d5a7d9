package e2e

import (
	"bytes"
	"encoding/json"
	"image/jpeg"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// TestTheWholeWay is the shortest test from end to end: what a camera of each codec shows is
// decoded, a motion is found in it, and the service has the event and its still. It is the one that
// runs for other machines as well, and leaves out the codecs for which there is no library.
func TestTheWholeWay(t *testing.T) {
	t.Parallel()
	var cameras string
	var ids []string
	for _, codec := range decodable(t) {
		cameras += cameraYAML(codec, sceneCamera(t, codec, "--size", "320x192", "--fps", "5"), "", "tcp", "", "")
		ids = append(ids, codec)
	}
	s := newSite(t, cameras)
	s.startBridge()
	for _, id := range ids {
		var event vms.Event
		until(t, 90*time.Second, "a motion of "+id+" at the service", func() bool {
			if code, _, _ := s.get(vms.PathCameras + "/" + id); code != http.StatusOK {
				return false // the bridge has not registered it yet
			}
			events := s.events(id, vms.TypeMotion)
			if len(events) > 0 {
				event = events[0]
			}
			return len(events) > 0
		})
		require.WithinDuration(t, time.Now(), event.StartTimestamp.Time, 2*time.Minute)
		var still []byte
		until(t, 30*time.Second, "a still of "+id, func() bool {
			code, _, body := s.get(vms.ImageURL("", id, vms.ImagePreview, vms.OpBefore, time.Now().Add(time.Minute)))
			still = body
			return code == http.StatusOK
		})
		picture, err := jpeg.Decode(bytes.NewReader(still))
		require.NoError(t, err, id)
		require.Equal(t, 320, picture.Bounds().Dx(), id)
	}
	s.bridge.stop(20 * time.Second)
}

// decodable are the codecs that the program under test decodes here.
func decodable(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(programs(t), "vmsbridge"), "version", "--json").Output()
	require.NoError(t, err)
	var v struct {
		Decoders map[string]struct{ OK bool }
	}
	require.NoError(t, json.Unmarshal(out, &v))
	codecs := []string{"mjpeg"}
	for _, codec := range []string{"h264", "h265"} {
		if v.Decoders[codec].OK {
			codecs = append(codecs, codec)
		}
	}
	return codecs
}
