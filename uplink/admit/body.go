package admit

import (
	"io"
	"net/http"
	"time"
)

// BodyTime is how long a whole request may take to come: what a server's ReadTimeout is to be.
const BodyTime = 30 * time.Second

// A body comes at no less than stepBytes in stepTime.
const stepBytes = 8 << 10

var stepTime = 5 * time.Second // shorter in tests

// Bodies gives requests to next whose bodies end early if they come too slowly. A body of GET or
// HEAD counts for nothing (RFC 9110 §9.3.1), next sees none, and the connection ends with the
// answer. A connection that has too many requests at a time is cut off with all of them.
func Bodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, _ := r.Context().Value(contextKey{}).(*conn); c != nil {
			if !c.l.begins(c) {
				_ = c.Conn.Close()
				return
			}
			defer c.l.ended(c)
		}
		if r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0 {
			way := http.NewResponseController(w)
			b := &body{ReadCloser: r.Body, way: way, until: time.Now().Add(BodyTime)}
			b.step() // also for the server itself, which reads some of what no handler did
			r2 := *r
			r2.Body, r = b, &r2
			if r.Method == http.MethodGet || r.Method == http.MethodHead {
				w.Header().Set("Connection", "close") // else the server would read it before it answers
				r.Body, r.ContentLength = http.NoBody, 0
			}
		}
		next.ServeHTTP(w, r)
	})
}

// body sets the deadline of the connection forward while its bytes come.
type body struct {
	io.ReadCloser
	way   *http.ResponseController
	until time.Time
	begun bool
	n     int
}

// Read reads, and after the end lets the connection wait as long as its server wants.
func (b *body) Read(p []byte) (int, error) {
	if !b.begun {
		b.begun = true
		b.step() // the handler may have thought for long
	}
	n, err := b.ReadCloser.Read(p)
	switch b.n += n; {
	case err == io.EOF: //nolint:errorlint // a body says so itself
		_ = b.way.SetReadDeadline(time.Time{})
	case b.n >= stepBytes:
		b.n = 0
		b.step()
	}
	return n, err
}

func (b *body) step() {
	at := time.Now().Add(stepTime)
	if b.until.Before(at) {
		at = b.until
	}
	_ = b.way.SetReadDeadline(at) // what cannot has the server's deadline
}
