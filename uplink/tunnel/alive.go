package tunnel

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/yamux"
)

// link is the connection below a session. It counts how often something came, and notes when.
type link struct {
	net.Conn
	came   atomic.Int64
	cameAt atomic.Int64 // by time.Now().UnixNano()
	silent atomic.Bool  // attend ended the session, for nothing came any more
}

// Read reads from the connection.
func (l *link) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if n > 0 {
		l.came.Add(1)
		l.cameAt.Store(time.Now().UnixNano())
	}
	return n, err
}

// last is when the peer was last heard of, once the session has ended.
func (l *link) last() time.Time {
	if l.silent.Load() {
		return time.Unix(0, l.cameAt.Load())
	}
	return time.Now()
}

// silentTicks is how many halves of the keepalive a peer may be silent.
const silentTicks = 3

// attend pings the peer twice in each keepAlive until the session ends, and ends it itself, and returns true, once nothing at all came
// from the peer for three such halves. Whether and when a ping is answered does not matter: the peer pings too, and what it
// sends meanwhile tells as much.
func attend(mux *yamux.Session, l *link, keepAlive time.Duration) (silent bool) {
	var pings sync.WaitGroup
	defer pings.Wait()
	tick := time.NewTicker(keepAlive / 2)
	defer tick.Stop()
	came := l.came.Load()
	for ticks := 0; ; {
		select {
		case <-mux.CloseChan():
			return false
		case <-tick.C:
		}
		if now := l.came.Load(); now != came {
			came, ticks = now, 0
		} else if ticks++; ticks >= silentTicks {
			l.silent.Store(true)
			_ = mux.Close()
			return true
		}
		pings.Go(func() { _, _ = mux.Ping() }) // its answer counts like anything else that comes
	}
}

// pieceBytes is how much of a stream goes at once. yamux sends a write as one frame of up to 256 KiB, behind which everything else waits.
const pieceBytes = 32 << 10

// streams takes the service's streams as connections that write in pieces, so that they take turns on a slow link.
type streams struct{ *yamux.Session }

// Accept waits for the next stream.
func (s streams) Accept() (net.Conn, error) {
	c, err := s.Session.Accept()
	if err != nil {
		return nil, err
	}
	return pieces{c}, nil
}

type pieces struct{ net.Conn }

// Write writes all of b, piece by piece.
func (p pieces) Write(b []byte) (n int, err error) {
	for len(b) > 0 && err == nil {
		var m int
		m, err = p.Conn.Write(b[:min(len(b), pieceBytes)])
		n, b = n+m, b[m:]
	}
	return n, err
}
