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

// Defaults of both ends. NAT tables and proxies forget connections that are silent for about a minute. A peer from which nothing
// came for one and a half to two times the keepalive is gone.
const (
	DefaultKeepAlive = 20 * time.Second
	handshakeTimeout = 15 * time.Second
)

// maxWaiting bounds the streams that the service opened and the bridge has not taken yet.
const maxWaiting = 16

// slowest bounds how long something may take that waits for what goes ahead of it on a slow link: a piece to be written, a stream to
// be taken, the end of one to be acknowledged. It is as long as an answer may take. A peer that is gone is found out by attend.
const slowest = 90 * time.Second

// session is how yamux is set up at both ends. Its own keepalive is not used: it ends the session of a peer whose answer to a
// ping is late because it stands behind a picture on a slow link.
func session() *yamux.Config {
	c := yamux.DefaultConfig()
	c.AcceptBacklog = maxWaiting
	c.EnableKeepAlive = false
	c.ConnectionWriteTimeout = slowest
	c.StreamOpenTimeout = slowest
	c.StreamCloseTimeout = slowest
	c.LogOutput = io.Discard // what it has to say comes back as errors too
	return c
}
