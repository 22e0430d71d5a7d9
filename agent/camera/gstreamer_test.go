package camera

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
)

// gstreamer starts GStreamer's RTSP server and returns its address.
func gstreamer(t *testing.T, user, password string) string {
	t.Helper()
	const python = "/usr/bin/python3" // the distribution's, which has its gi
	check := exec.Command(python, "-c", `
import gi
gi.require_version("GstRtspServer", "1.0")
from gi.repository import Gst, GstRtspServer
Gst.init(None)
assert all(Gst.ElementFactory.find(e) for e in "x264enc x265enc jpegenc rtph264pay rtph265pay rtpjpegpay videotestsrc".split())`)
	if out, err := check.CombinedOutput(); err != nil {
		t.Skipf("GStreamer's RTSP server is not installed (python3-gi gir1.2-gst-rtsp-server-1.0 and the good, bad "+
			"and ugly plugins): %s", out)
	}
	cmd := exec.Command(python, "testdata/gst_server.py", user, password)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		kill := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return "127.0.0.1:" + strings.TrimSpace(port)
}

// A server that is not gortsplib's: all codecs, both transports, digest sign-in with odd
// characters.
func TestReadsGStreamer(t *testing.T) {
	t.Parallel()
	const user, password = "view er@1", `p:a/s@s%w "ü"` + "\\"
	address := gstreamer(t, user, password)
	for _, tc := range []struct {
		path  string
		codec Codec
	}{{"/h264", H264}, {"/h265", H265}, {"/mjpeg", MJPEG}} {
		for _, transport := range []string{TransportTCP, TransportUDP} {
			t.Run(string(tc.codec)+" "+transport, func(t *testing.T) {
				cfg := testConfig("rtsp://" + address + tc.path)
				cfg.ReadTimeout = 10 * time.Second // its encoder starts at the first request
				cfg.Username, cfg.Password, cfg.Transport = user, password, transport
				r := read(t, cfg)
				units := r.waitUnits(30)
				requireSane(t, units)
				require.Equal(t, tc.codec, units[0].Codec)
				require.Equal(t, []int{320, 240}, []int{units[0].Width, units[0].Height})
				for i, u := range units {
					require.False(t, u.Damaged, "unit %d", i)
				}
				s := r.src.Stats()
				require.Zero(t, s.DecodeErrors)
				require.Zero(t, s.LostPackets)
				if transport == TransportUDP || tc.codec != H264 {
					return // one is enough to see its sender reports
				}
				harness.Until(t, "a sender report", func() bool { return r.src.Stats().CameraClockKnown })
				require.InDelta(t, 0, r.src.Stats().CameraClock.Seconds(), 1, "one machine, one clock")
			})
		}
	}
	t.Run("wrong password", func(t *testing.T) {
		cfg := testConfig("rtsp://" + address + "/mjpeg")
		cfg.Username, cfg.Password = user, "wrong"
		read(t, cfg).waitState(InvalidCredentials)
	})
	t.Run("wrong path", func(t *testing.T) {
		cfg := testConfig("rtsp://" + address + "/nothing")
		cfg.Username, cfg.Password = user, password
		read(t, cfg).waitState(NotFound)
	})
}
