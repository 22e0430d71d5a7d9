package tunnel

import (
	"io"
	"time"

	"github.com/hashicorp/yamux"
)

// Path is where the service takes tunnels in; its argument BridgeID says whose. The service finds out whether the
// credentials may speak for that bridge.
const (
	Path     = "/api/v3.0/bridges:tunnel"
	BridgeID = "bridgeId"
)

// Subprotocol names what is spoken inside the WebSocket. A change that old peers do not understand gets another name.
const Subprotocol = "vms.tunnel.v1"

// Defaults of both ends. NAT tables and proxies forget connections that are silent for about a minute.
const (
	DefaultKeepAlive = 20 * time.Second
	handshakeTimeout = 15 * time.Second
)

// maxWaiting bounds the streams that the service opened and the bridge has not taken yet.
const maxWaiting = 16

// session is how yamux is set up at both ends. A peer that does not answer a ping within half of keepAlive is gone.
func session(keepAlive time.Duration) *yamux.Config {
	c := yamux.DefaultConfig()
	c.AcceptBacklog = maxWaiting
	c.KeepAliveInterval = keepAlive
	c.ConnectionWriteTimeout = keepAlive / 2
	c.StreamOpenTimeout = handshakeTimeout
	c.StreamCloseTimeout = handshakeTimeout
	c.LogOutput = io.Discard // what it has to say comes back as errors too
	return c
}
