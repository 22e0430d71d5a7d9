package tunnel

import (
	"io"
	"time"

	"github.com/hashicorp/yamux"
)

// Path is where the service takes tunnels in; its argument BridgeID says whose. The service finds
// out whether the credentials may speak for that bridge.
const (
	Path     = "/api/v3.0/bridges:tunnel"
	BridgeID = "bridgeId"
)

// Subprotocol names what is spoken inside the WebSocket. A change that old peers do not understand
// gets another name.
const Subprotocol = "vms.tunnel.v1"

// HeaderKeepAlive is where the service says, when it takes a tunnel in, how many milliseconds it
// lets pass without a sign of its own. One that says nothing gives one each ten seconds.
const HeaderKeepAlive = "X-Vms-Tunnel-Keepalive"

// How long an end lets pass without a sign. NAT tables and proxies forget connections that are
// silent for about a minute; but people want to know within ten seconds that a bridge is gone, also
// where its link swallows all that is sent. A ping and its answer are some 240 bytes with TLS and
// TCP, 6 MB a day of a tunnel on which nothing else goes.
const (
	DefaultKeepAlive = 3500 * time.Millisecond
	otherKeepAlive   = 20 * time.Second // for a service that says nothing
	handshakeTimeout = 15 * time.Second
)

// maxWaiting bounds the streams that the service opened and the bridge has not taken yet.
const maxWaiting = 16

// slowest bounds how long something may take that waits for what goes ahead of it on a slow link: a
// piece to be written, a stream to be taken, the end of one to be acknowledged. It is as long as an
// answer may take. A peer that is gone is found out by attend.
const slowest = 90 * time.Second

// session is how yamux is set up at both ends. Its own keepalive is not used: it ends the session
// of a peer whose answer to a ping is late because it stands behind a picture on a slow link.
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
