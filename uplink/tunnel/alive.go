package tunnel

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/yamux"
)

// link is the connection below a session. It notes when something last came, and when something was
// last sent.
type link struct {
	net.Conn
	since  time.Time    // the times below are from then on, by the monotonic clock
	came   atomic.Int64 // in nanoseconds
	sent   atomic.Int64
	silent atomic.Bool // attend ended the session, for nothing came any more
}

func newLink(c net.Conn) *link { return &link{Conn: c, since: time.Now()} }

// Read reads from the connection.
func (l *link) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if n > 0 {
		l.came.Store(int64(time.Since(l.since)))
	}
	return n, err
}

// Write writes to the connection.
func (l *link) Write(b []byte) (int, error) {
	l.sent.Store(int64(time.Since(l.since)))
	return l.Conn.Write(b)
}

// last is when the peer was last heard of, once the session has ended.
func (l *link) last() time.Time {
	if l.silent.Load() {
		return l.since.Add(time.Duration(l.came.Load()))
	}
	return time.Now()
}

// The patience of the two ends: how many quarters of the keepalive may pass after a ping until
// something comes. They are waited for one by one, so that a machine that stood still meanwhile has
// a moment to read what is there. The bridge gives up first: it dials again before the service
// takes it for gone.
const hubPatience, dialerPatience = 3, 2

// attend pings the peer when nothing has come from it, or was sent to it, for keepAlive, until the
// session ends. It ends the session itself, and returns true, once nothing at all has come for
// keepAlive and, in spite of a ping, for patience quarters of it more. Whether and when a ping is
// answered does not matter: on a slow link its answer stands behind a picture, and what comes of
// that tells as much. The peer goes by what it hears meanwhile, too.
func attend(mux *yamux.Session, l *link, keepAlive time.Duration, patience int) (silent bool) {
	var pings sync.WaitGroup
	defer pings.Wait()
	timer := time.NewTimer(keepAlive)
	defer timer.Stop()
	var asked time.Duration // at the last ping
	for waited, before := 0, int64(-1); ; {
		select {
		case <-mux.CloseChan():
			return false
		case <-timer.C:
		}
		now, came := time.Since(l.since), l.came.Load()
		if came != before {
			waited, before = 0, came
		}
		quiet := now-time.Duration(came) >= keepAlive
		if quiet && waited >= patience {
			l.silent.Store(true)
			_ = mux.Close()
			return true
		}
		if quiet {
			waited++
		}
		silence, wait := now-time.Duration(min(came, l.sent.Load())), keepAlive/4
		switch {
		case silence < keepAlive:
			wait = keepAlive - silence
		case now-asked >= keepAlive:
			asked = now
			pings.Go(func() { _, _ = mux.Ping() }) // its answer counts like anything else that comes
		}
		timer.Reset(wait)
	}
}

// pieceBytes is how much of a stream goes at once. yamux sends a write as one frame of up to 256
// KiB, behind which everything else waits.
const pieceBytes = 32 << 10

// streams takes the service's streams as connections that write in pieces, so that they take turns
// on a slow link.
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
