package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// TestABridgeBehindALinkThatSwallowsAll is away within ten seconds: nothing that is sent arrives,
// no connection ends. It is there again soon after the link is, and a link that swallows for five
// seconds is no outage.
func TestABridgeBehindALinkThatSwallowsAll(t *testing.T) {
	t.Parallel()
	s := newSite(t, cameraYAML("one", "rtsp://127.0.0.1:9/none", "", "tcp", "", ""))
	link := newCable(t, strings.TrimPrefix(s.service, "http://"))
	s.set(fmt.Sprintf("url: %q", s.service), fmt.Sprintf("url: %q", link.url()))
	s.startBridge()
	s.cloud.line("a bridge's tunnel stands", 20*time.Second)
	status := func() string {
		code, _, body := s.get("/api/v3.0/cameras?include=status")
		require.Equal(t, http.StatusOK, code, "%s", body)
		var page vms.PageOf[vms.Camera]
		require.NoError(t, json.Unmarshal(body, &page))
		require.Len(t, page.Results, 1)
		return page.Results[0].Status.ConnectionStatus
	}
	until(t, 20*time.Second, "the camera at the service", func() bool { return status() == vms.StatusDeviceOffline })

	link.set(hole)
	for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(100 * time.Millisecond) {
		require.NotEqual(t, vms.StatusBridgeOffline, status(), "after %v", time.Since(began))
	}
	link.set(whole)
	for began := time.Now(); time.Since(began) < 8*time.Second; time.Sleep(100 * time.Millisecond) {
		require.NotEqual(t, vms.StatusBridgeOffline, status(), "%v after a short time without a link",
			time.Since(began))
	}

	link.set(hole)
	began := time.Now()
	until(t, 20*time.Second, "the bridge to be away", func() bool { return status() == vms.StatusBridgeOffline })
	took := time.Since(began)
	t.Logf("told %v after the link began to swallow", took)
	// A machine at work stretches its ten seconds to no more than twice as many: none of it waits
	// for pictures.
	require.Less(t, took, min(stretched(10*time.Second), 20*time.Second))
	link.set(resets)
	link.set(whole)
	began = time.Now()
	until(t, 40*time.Second, "the bridge to be back", func() bool { return status() == vms.StatusDeviceOffline })
	t.Logf("back %v after the link", time.Since(began))
	s.bridge.stop(10 * time.Second)
}
