package e2e

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cable is the way between two programs, which can be cut.
type cable struct {
	t    *testing.T
	l    net.Listener
	to   string
	wait sync.WaitGroup

	mu    sync.Mutex // guards what follows
	mode  string
	conns map[net.Conn]bool
}

// The ways in which a cable is cut.
const (
	whole   = ""
	refuses = "refuses" // connections are closed at once
	resets  = "resets"  // those that stand are torn
	hole    = "hole"    // what is sent goes nowhere, and nobody is told
)

func newCable(t *testing.T, to string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &cable{t: t, l: l, to: to, conns: map[net.Conn]bool{}}
	c.wait.Go(c.accept)
	t.Cleanup(func() { _ = l.Close(); c.set(resets); c.wait.Wait() })
	return c
}

func (c *cable) url() string { return fmt.Sprintf("http://%s", c.l.Addr()) }

// set cuts the cable in some way, or mends it.
func (c *cable) set(mode string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mode = mode
	if mode == resets || mode == refuses {
		for conn := range c.conns {
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = conn.Close()
		}
	}
}

func (c *cable) is() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mode
}

func (c *cable) accept() {
	for {
		conn, err := c.l.Accept()
		if err != nil {
			return
		}
		if c.is() == refuses {
			_ = conn.Close()
			continue
		}
		c.wait.Go(func() { c.carry(conn) })
	}
}

func (c *cable) carry(conn net.Conn) {
	other, err := net.DialTimeout("tcp", c.to, 5*time.Second)
	if err != nil {
		_ = conn.Close()
		return
	}
	c.mu.Lock()
	c.conns[conn], c.conns[other] = true, true
	c.mu.Unlock()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{conn, other}, {other, conn}} {
		both.Go(func() {
			c.oneWay(way[0], way[1])
			for c.is() == hole { // nobody is told of the end either
				time.Sleep(10 * time.Millisecond)
			}
			_ = conn.Close()
			_ = other.Close()
		})
	}
	both.Wait()
	c.mu.Lock()
	delete(c.conns, conn)
	delete(c.conns, other)
	c.mu.Unlock()
}

// oneWay carries what comes from one end to the other.
func (c *cable) oneWay(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 && c.is() != hole {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
