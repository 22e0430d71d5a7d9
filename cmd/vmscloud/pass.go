package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"time"

	"vmsbridge/storage/postgres"
	"vmsbridge/uplink/admit"
)

// headerHop says whom a request is from that is passed on: the addresses of its connection's two
// ends, and its scheme; or toAdmin. In an answer it says that the node leads no longer.
const (
	headerHop = "Vmscloud-Hop"
	toAdmin   = "admin"
)

const (
	// leaderWait is how long a request waits for a node that leads. Another one takes the place of
	// one that was killed in two seconds, of a frozen one in seven; while thousands of tunnels come
	// back on a small machine, in ten.
	leaderWait = 30 * time.Second
	// hopDial is how long connecting to another node may take, and hopAgain when it is tried again.
	hopDial, hopAgain = 3 * time.Second, 200 * time.Millisecond
	// hopAnswer is longer than a service may take for an answer.
	hopAnswer = 100 * time.Second
	hopsIdle  = 256 // connections that are kept for the next request
)

// leaders is where requests are passed on to.
type leaders struct {
	mu      sync.Mutex // guards what follows
	now     *leader    // nil: none is known yet
	changed chan struct{}
	closed  bool
}

// leader is a node that leads.
type leader struct {
	epoch   int64
	address string
	tls     *tls.Config
	http    *http.Transport

	mu    sync.Mutex // guards what follows
	conns map[net.Conn]struct{}
	gone  bool
}

// follow passes on to another leader from now on. Requests under way at the one before are cut off.
func (ls *leaders) follow(l postgres.Leader, log *slog.Logger) {
	var said note
	err := json.Unmarshal(l.Note, &said)
	next := &leader{epoch: l.Epoch, address: said.Address, conns: map[net.Conn]struct{}{}}
	if err == nil {
		next.tls, err = bothEnds(said.Secret)
	}
	if err != nil {
		log.Error("the node that leads says nothing that this one understands; are their versions the same?")
		return
	}
	next.http = &http.Transport{DialTLSContext: next.dial, DisableCompression: true, MaxIdleConnsPerHost: hopsIdle,
		IdleConnTimeout: time.Minute, ResponseHeaderTimeout: hopAnswer}
	log.Info("requests are passed on to the node that leads", "node", said.Address, "epoch", l.Epoch)
	ls.set(next)
}

// set has l nil for none.
func (ls *leaders) set(l *leader) {
	ls.mu.Lock()
	before := ls.now
	if ls.now = l; ls.closed {
		before, ls.now = l, nil
	}
	close(ls.changed)
	ls.changed = make(chan struct{})
	ls.mu.Unlock()
	if before != nil {
		before.close()
	}
}

// close cuts all off, for good.
func (ls *leaders) close() {
	ls.mu.Lock()
	ls.closed = true
	ls.mu.Unlock()
	ls.set(nil)
}

func (ls *leaders) get() (l *leader, changed <-chan struct{}) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return ls.now, ls.changed
}

func (l *leader) close() {
	l.mu.Lock()
	l.gone = true
	conns := l.conns
	l.conns = nil
	l.mu.Unlock()
	for c := range conns {
		_ = c.Close()
	}
	l.http.CloseIdleConnections()
}

// notSentError is of a connection that was not made, so that nothing of the request was sent.
type notSentError struct{ error }

func (e notSentError) Unwrap() error { return e.error }

var (
	errLeaderGone = errors.New("the node leads no longer")
	errHere       = errors.New("this node leads now")
)

func (l *leader) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, hopDial)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, network, l.address)
	if err != nil {
		return nil, notSentError{err}
	}
	l.mu.Lock()
	gone := l.gone
	if !gone {
		l.conns[raw] = struct{}{}
	}
	l.mu.Unlock()
	c := &hopConn{tls.Client(raw, l.tls), l}
	if err = errLeaderGone; !gone {
		err = c.HandshakeContext(ctx)
	}
	if err != nil {
		_ = raw.Close()
		l.forget(raw)
		return nil, notSentError{err}
	}
	return c, nil
}

func (l *leader) forget(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// hopConn is a connection that ends with its leader.
type hopConn struct {
	*tls.Conn
	of *leader
}

func (c *hopConn) Close() error {
	c.of.forget(c.NetConn())
	return c.Conn.Close()
}

// passOn answers a request with what the leader answers. Of this node's own health it says itself
// what it knows.
func (n *node) passOn(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" {
		if l, _ := n.there.get(); l == nil {
			_, _ = io.WriteString(w, "degraded\nno node leads yet\n")
			return
		}
		_, _ = io.WriteString(w, "ok\n")
		return
	}
	admit.Passed(r.Context())
	scheme, local := "http", ""
	if r.TLS != nil {
		scheme = "https"
	}
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		local = at.String()
	}
	ctx, end := context.WithCancel(r.Context())
	p := &passing{answer: w, request: r, end: end}
	defer func() {
		end()
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.lasting, p)
	}()
	r = r.WithContext(context.WithValue(ctx, passingKey{}, p))
	n.passTo(strings.Join([]string{r.RemoteAddr, local, scheme}, " ")).ServeHTTP(&streamed{ResponseWriter: w}, r)
}

// passing is a request that is passed on. The context of the outgoing request has it.
type passing struct {
	answer  http.ResponseWriter
	request *http.Request // as it came
	end     context.CancelFunc
}

type passingKey struct{}

// lasts notes that an answer is a stream or a tunnel, which drain ends.
func (n *node) lasts(res *http.Response) {
	p, _ := res.Request.Context().Value(passingKey{}).(*passing)
	if p != nil && (res.StatusCode == http.StatusSwitchingProtocols || isStream(res.Header)) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.lasting[p] = struct{}{}
	}
}

func isStream(h http.Header) bool {
	return strings.HasPrefix(h.Get("Content-Type"), "text/event-stream")
}

// drain goes on for a time with /readyz at 503, and ends the streams and tunnels that are passed on
// one by one: after a moment, in which a balancer notices.
func (n *node) drain(ctx context.Context, d time.Duration, web *http.Server) {
	n.draining.Store(true)
	if d <= 0 {
		return
	}
	n.log.Info("streams and tunnels are ended", "within", d)
	web.SetKeepAlivesEnabled(false) // who asks again does so over a new connection
	end := time.Now().Add(d)
	for pause := min(d/5, 5*time.Second); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		n.mu.Lock()
		left := len(n.lasting)
		var one *passing // any
		for one = range n.lasting {
			delete(n.lasting, one)
			break
		}
		n.mu.Unlock()
		if one != nil {
			one.end()
		}
		if left == 0 || time.Now().After(end) {
			return
		}
		pause = time.Until(end) / time.Duration(left)
	}
}

// passTo passes requests on with what the leader is to know of whom they are from.
func (n *node) passTo(hop string) http.Handler {
	p := &httputil.ReverseProxy{Transport: n, Rewrite: func(p *httputil.ProxyRequest) {
		p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = "https", "leader", p.In.Host
		for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
			if v, ok := p.In.Header[name]; ok { // of a proxy before this node
				p.Out.Header[name] = v
			}
		}
		if _, ok := p.In.Header["User-Agent"]; !ok {
			p.Out.Header["User-Agent"] = nil // else one is put in
		}
		p.Out.URL.RawQuery = p.In.URL.RawQuery // as it came, whatever is wrong with it
		p.Out.Header.Set(headerHop, hop)
	}, ModifyResponse: func(res *http.Response) error {
		n.lasts(res)
		res.Header.Del(headerHop)
		if strings.HasPrefix(res.Request.URL.Path, "/api/") && res.StatusCode < 300 { // there a token was good
			admit.Known(res.Request.Context())
		}
		return nil
	}, ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
		if p, _ := r.Context().Value(passingKey{}).(*passing); p != nil && errors.Is(err, errHere) {
			if t := n.leads(); t != nil && t.serve(p.answer, p.request, t.front) {
				return
			}
		}
		n.log.Debug("a request could not be passed on", "path", r.URL.Path, "error", err)
		notNow(w, "No node that leads answers; another one takes its place in a moment")
	}, ErrorLog: slog.NewLogLogger(n.log.Handler(), slog.LevelDebug)}
	return p
}

// notNow answers that a request is to come again.
func notNow(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": http.StatusServiceUnavailable, "status": "unavailable",
		"message": text, "details": []any{}}) // it may be gone
}

// RoundTrip asks the leader, waiting for one: errHere if it is this node in the end. A request of
// which nothing was sent, and one that only asks, is tried again at the next one.
func (n *node) RoundTrip(r *http.Request) (*http.Response, error) {
	deadline := time.NewTimer(leaderWait)
	defer deadline.Stop()
	if r.URL.Path == "/readyz" {
		deadline.Reset(time.Second)
	}
	if r.Body != nil && r.Body != http.NoBody { // a try that fails closes it
		r2 := *r
		r2.Body, r = io.NopCloser(r.Body), &r2
	}
	var err error
	for tries := 0; ; tries++ {
		if n.leads() != nil {
			return nil, errHere
		}
		l, changed := n.there.get()
		if l != nil {
			var res *http.Response
			asks := r.Method == http.MethodGet || r.Method == http.MethodHead // both come without a body
			if res, err = l.http.RoundTrip(r); err == nil && (!asks || res.Header.Get(headerHop) == "") {
				return res, nil
			}
			if err == nil {
				_ = res.Body.Close()
				err = notSentError{errLeaderGone}
			}
			if again := errors.As(err, new(notSentError)) || asks && tries == 0; !again || r.Context().Err() != nil {
				return nil, err
			}
		}
		select {
		case <-changed:
		case <-time.After(hopAgain):
		case <-deadline.C:
			return nil, errors.Join(errLeaderGone, err)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

// streamed is an answer that may go on for ever if it is a stream: each of its pieces has as long
// as another answer has as a whole.
type streamed struct {
	http.ResponseWriter
	stream bool
}

const pieceTime = 90 * time.Second

func (s *streamed) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *streamed) WriteHeader(code int) {
	if s.stream = isStream(s.Header()); s.stream { // the server's limit is for requests that come slowly
		_ = http.NewResponseController(s.ResponseWriter).SetReadDeadline(time.Time{})
	}
	s.ResponseWriter.WriteHeader(code)
}

func (s *streamed) Write(b []byte) (int, error) {
	if s.stream {
		_ = http.NewResponseController(s.ResponseWriter).SetWriteDeadline(time.Now().Add(pieceTime))
	}
	return s.ResponseWriter.Write(b)
}
