package admit

import (
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// excess is how many requests over the announced limit a client may send before it has the
// announcement: as many as clients take for the limit up to then.
const excess = 100

// withoutIdleTimer lets s make its HTTP/2 without a timer for connections that rest, and returns
// what is to be called before each connection is served. net/http (Go 1.26) starts that timer once
// more when a connection ends in the midst of a request, and so keeps the connection for all of
// IdleTimeout: 18 to 100 KiB of each that a stranger opens, and that no limit counts.
func withoutIdleTimer(s *http.Server) (prepare func()) {
	idle, read := s.IdleTimeout, s.ReadTimeout
	s.IdleTimeout, s.ReadTimeout = 0, 0 // the timer's time is taken of these
	return sync.OnceFunc(func() {
		s.IdleTimeout, s.ReadTimeout = idle, read
		if serve := s.TLSNextProto["h2"]; serve != nil {
			s.TLSNextProto["h2"] = func(s *http.Server, c *tls.Conn, h http.Handler) { serveHTTP2(serve, s, c, h) }
		}
	})
}

// serveHTTP2 serves a connection by serve, ends it when it rested for IdleTimeout, and ends it when
// its client has more requests at a time than s allows: net/http refuses each of them by itself,
// and for 250 keeps 64 KiB.
func serveHTTP2(serve func(*http.Server, *tls.Conn, http.Handler), s *http.Server, c *tls.Conn, h http.Handler) {
	limits := http.HTTP2Config{}
	if s.HTTP2 != nil {
		limits = *s.HTTP2
	}
	over := 0
	limits.CountError = func(what string) { // called by one goroutine of the connection
		early := strings.HasSuffix(what, "over_max_streams_race") // the client has not got the limit yet
		if !early && !strings.HasSuffix(what, "over_max_streams") {
			return
		}
		if over++; !early || over > excess {
			_ = c.NetConn().Close()
		}
	}
	r := &rest{after: s.IdleTimeout, end: func() { _ = c.Close() }}
	defer r.close()
	// All that HTTP/2 takes of a server. The handler comes by itself.
	serve(&http.Server{ReadTimeout: s.ReadTimeout, WriteTimeout: s.WriteTimeout, MaxHeaderBytes: s.MaxHeaderBytes,
		ErrorLog: s.ErrorLog, HTTP2: &limits, ConnState: func(c net.Conn, state http.ConnState) {
			r.become(state)
			if s.ConnState != nil {
				s.ConnState(c, state)
			}
		}}, c, h)
}

// rest ends a connection that has no request for some time.
type rest struct {
	after time.Duration // 0: never
	end   func()

	mu     sync.Mutex // guards what follows
	timer  *time.Timer
	closed bool
}

func (r *rest) become(s http.ConnState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	if s == http.StateIdle && !r.closed && r.after > 0 {
		r.timer = time.AfterFunc(r.after, r.end)
	}
}

func (r *rest) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.become(http.StateClosed)
}
