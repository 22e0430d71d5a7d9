package camera

import (
	"net"
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera/clip"
)

// TestServerThatNamesNoPorts: some cameras leave server_port out of their answer to SETUP; their
// packets are then taken from whatever port of theirs.
func TestServerThatNamesNoPorts(t *testing.T) {
	t.Parallel()
	ports := regexp.MustCompile(`;server_port=[0-9-]+`)
	cam := &fakeCamera{clip: clip.Load(t, "plain.h264"), udp: true}
	var cut atomic.Bool
	cam.listen = func(network, address string) (net.Listener, error) {
		l, err := net.Listen(network, address)
		return &editListener{l, func(b []byte) []byte {
			if ports.Match(b) {
				cut.Store(true)
			}
			return ports.ReplaceAll(b, nil)
		}}, err
	}
	cam.start(t)
	cfg := testConfig(cam.url)
	cfg.Transport = TransportUDP
	r := read(t, cfg)
	r.waitUnits(20)
	require.True(t, cut.Load(), "the server would have named its ports")
	require.Equal(t, Online, r.src.Status().State)
}

// editListener changes what its connections send.
type editListener struct {
	net.Listener
	edit func([]byte) []byte
}

func (l *editListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &editConn{c, l.edit}, nil
}

type editConn struct {
	net.Conn
	edit func([]byte) []byte
}

// Write says that all was sent, whatever was left of it.
func (c *editConn) Write(b []byte) (int, error) {
	if _, err := c.Conn.Write(c.edit(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}
