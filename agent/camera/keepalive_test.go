package camera

import (
	"bytes"
	"net"
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera/clip"
	"vmsbridge/scripts/harness"
)

// TestRefusedKeepalive: a camera whose nonce has aged answers 401 to the requests that keep the
// session alive, and goes on sending. The session goes on too.
func TestRefusedKeepalive(t *testing.T) {
	t.Parallel()
	timeout := regexp.MustCompile(`(?m)^(Session: [^;\r]+)(;timeout=\d+)?\r$`)
	var stale atomic.Bool
	var refused atomic.Int32
	cam := &fakeCamera{clip: clip.Load(t, "plain.h264"), user: "viewer", password: "secret"}
	cam.listen = func(network, address string) (net.Listener, error) {
		l, err := net.Listen(network, address)
		return &editListener{l, func(b []byte) []byte {
			b = timeout.ReplaceAll(b, []byte("$1;timeout=1\r")) // a keepalive each 0.8 s
			if good := []byte("RTSP/1.0 200 OK"); stale.Load() && bytes.HasPrefix(b, good) {
				refused.Add(1)
				return bytes.Replace(b, good, []byte("RTSP/1.0 401 Unauthorized"), 1)
			}
			return b
		}}, err
	}
	cam.start(t)
	cfg := testConfig(cam.url)
	cfg.Username, cfg.Password = "viewer", "secret"
	r := read(t, cfg)
	r.waitUnits(5)
	stale.Store(true)
	harness.Until(t, "three refused keepalives", func() bool { return refused.Load() >= 3 })
	r.waitUnits(len(r.all()) + 20)
	require.Equal(t, 1, newStreams(r.all()), "the session was not begun anew")
	require.Equal(t, Online, r.src.Status().State)
	stale.Store(false) // so that TEARDOWN is answered
}
