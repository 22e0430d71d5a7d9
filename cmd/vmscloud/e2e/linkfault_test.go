package e2e

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Fault is a way to misbehave.
type Fault string

// The faults. Those that answer without asking the service leave it unaware; those called after and
// half have it do its work and then lose the answer.
const (
	Refuse          Fault = "refuse"
	ResetMidRequest Fault = "reset mid-request"
	ResetBefore     Fault = "reset before the service"
	ResetAfter      Fault = "reset after it has stored"
	HalfAnswer      Fault = "half an answer"
	HalfClose       Fault = "half-closed"
	Delay           Fault = "delay"
	TooSlow         Fault = "too slow"
	SlowLoris       Fault = "slow loris"
	Answer500       Fault = "500"
	Answer502       Fault = "502"
	Answer503       Fault = "503"
	Answer429       Fault = "429"
	Garbage         Fault = "garbage"
	GarbageJSON     Fault = "garbage as JSON"
	Portal          Fault = "200 with a page"
	EmptyAnswer     Fault = "200 with nothing"
	ProxyNotFound   Fault = "404 of a proxy"
)

// All is every fault.
var All = []Fault{Refuse, ResetMidRequest, ResetBefore, ResetAfter, HalfAnswer, HalfClose, Delay, TooSlow, SlowLoris,
	Answer500, Answer502, Answer503, Answer429, Garbage, GarbageJSON, Portal, EmptyAnswer, ProxyNotFound}

type request struct {
	r     *http.Request
	body  []byte
	share float64 // drawn with the fault, 0..1
}

var faults = map[Fault]func(*Link, http.ResponseWriter, *request){
	Refuse: func(l *Link, w http.ResponseWriter, q *request) {
		reset(w)
		l.refuse(time.Duration(q.share * float64(30*time.Millisecond)))
	},
	ResetBefore: func(_ *Link, w http.ResponseWriter, _ *request) { reset(w) },
	ResetAfter: func(l *Link, w http.ResponseWriter, q *request) {
		_, _ = l.forward(q.r, q.body)
		reset(w)
	},
	HalfAnswer: func(l *Link, w http.ResponseWriter, q *request) {
		a, err := l.forward(q.r, q.body)
		if err != nil {
			reset(w)
			return
		}
		raw := a.raw()
		send(w, raw[:int(q.share*float64(len(raw)))])
	},
	HalfClose: func(l *Link, w http.ResponseWriter, q *request) {
		_, _ = l.forward(q.r, q.body)
		conn, ok := hijack(w)
		if !ok {
			return
		}
		_ = conn.CloseWrite()
		_ = conn.SetReadDeadline(time.Now().Add(2 * l.opts.Patience))
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
	},
	Delay: func(l *Link, w http.ResponseWriter, q *request) {
		time.Sleep(time.Duration(q.share * 0.3 * float64(l.opts.Patience)))
		if a, err := l.forward(q.r, q.body); err == nil {
			a.write(w)
		} else {
			reset(w)
		}
	},
	TooSlow: func(l *Link, w http.ResponseWriter, q *request) {
		_, _ = l.forward(q.r, q.body)
		sleep(q.r, 2*l.opts.Patience)
		reset(w)
	},
	SlowLoris: func(l *Link, w http.ResponseWriter, q *request) {
		a, err := l.forward(q.r, q.body)
		conn, ok := hijack(w)
		if !ok {
			return
		}
		defer func() { _ = conn.Close() }()
		for i, b := range a.raw() {
			if _, err := conn.Write([]byte{b}); err != nil || i > 200 {
				return
			}
			time.Sleep(l.opts.Patience / 100)
		}
		_ = err
	},
	Answer500: answers(500, "text/plain", "boom"),
	Answer502: answers(502, "text/html", "<html>Bad Gateway</html>"),
	Answer503: answers(503, "application/json",
		`{"code":503,"status":"unavailable","message":"busy","details":[]}`),
	Answer429: answers(429, "application/json",
		`{"code":429,"status":"tooManyRequests","message":"slow down","details":[]}`),
	GarbageJSON: answers(201, "application/json", "{\x00\xff\""),
	Portal: answers(200, "text/html",
		"<!doctype html><html><body>Please log in to the hotel's network</body></html>"),
	EmptyAnswer:   answers(200, "application/json", ""),
	ProxyNotFound: answers(404, "text/html", "<html>nginx</html>"),
	Garbage: func(_ *Link, w http.ResponseWriter, _ *request) {
		send(w, []byte("\x16\x03\x01\x00garbage\r\n\r\nthis is no HTTP"))
	},
}

// answers is a fault that answers for the service. 429 and 503 ask for a pause, in seconds or as a
// date, that is over.
func answers(status int, contentType, body string) func(*Link, http.ResponseWriter, *request) {
	return func(_ *Link, w http.ResponseWriter, q *request) {
		w.Header().Set("Content-Type", contentType)
		switch {
		case status != 429 && status != 503:
		case q.share < 0.5:
			w.Header().Set("Retry-After", "0")
		default:
			w.Header().Set("Retry-After", time.Now().UTC().Format(http.TimeFormat))
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// raw is the answer as bytes of HTTP.
func (a answer) raw() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	h := a.header.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set("Content-Length", fmt.Sprint(len(a.body)))
	_ = h.Write(&b)
	b.WriteString("\r\n")
	b.Write(a.body)
	return b.Bytes()
}

// cable is what TCP and TLS connections have in common.
type cable interface {
	net.Conn
	CloseWrite() error
}

func hijack(w http.ResponseWriter) (cable, bool) {
	h, ok := w.(http.Hijacker)
	if !ok {
		return nil, false
	}
	conn, _, err := h.Hijack()
	if err != nil {
		return nil, false
	}
	c, ok := conn.(cable)
	return c, ok
}

// reset cuts the connection as a crash or a firewall does.
func reset(w http.ResponseWriter) {
	conn, ok := hijack(w)
	if !ok {
		return
	}
	var raw net.Conn = conn
	if t, ok := conn.(*tls.Conn); ok {
		raw = t.NetConn()
	}
	if tcp, ok := raw.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = raw.Close()
}

// send writes bytes and closes the connection in order.
func send(w http.ResponseWriter, b []byte) {
	if conn, ok := hijack(w); ok {
		_, _ = conn.Write(b)
		_ = conn.Close()
	}
}

// sleep waits, but not for a client that has gone.
func sleep(r *http.Request, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-r.Context().Done():
	case <-t.C:
	}
}
