package tunnel

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/hashicorp/yamux"
)

// Hub is the service's end: the tunnels that stand, one a bridge. Safe for concurrent use.
type Hub struct {
	keepAlive   time.Duration
	endPatience time.Duration
	log         *slog.Logger

	mu     sync.Mutex // guards what follows
	ends   map[string]*end
	closed bool
}

// end is one bridge's tunnel.
type end struct {
	mux       *yamux.Session
	transport *http.Transport
}

// Told is told of a bridge's tunnel. Its functions must not block; nil ones are left out.
type Told struct {
	// Stands is called when the tunnel stands.
	Stands func()
	// Ended is called when it ended, after Stands, with the time at which the bridge was last heard
	// of: now, or, if the tunnel ended because nothing came through it any more, when something
	// last did.
	Ended func(last time.Time)
}

// NewHub makes a hub without tunnels. A bridge that is gone is noticed after twice keepAlive at the
// latest; 0 means DefaultKeepAlive. log may be nil.
func NewHub(keepAlive time.Duration, log *slog.Logger) *Hub {
	if keepAlive == 0 {
		keepAlive = DefaultKeepAlive
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Hub{keepAlive: keepAlive, endPatience: endPatience, log: log, ends: map[string]*end{}}
}

// Serve takes in the tunnel of the bridge that sent r, and blocks until it ends or r's context is
// done. If that has a cause of its own, requests that are under way in the tunnel may end first,
// for endPatience. The caller has checked that r comes from that bridge. A bridge's new tunnel
// replaces its old one, which may be a connection that died unnoticed.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, bridge string, told Told) {
	w.Header().Set(HeaderKeepAlive, strconv.FormatInt(h.keepAlive.Milliseconds(), 10))
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol},
		CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = ws.CloseNow() }() // it may be closed already
	if ws.Subprotocol() != Subprotocol {
		_ = ws.Close(websocket.StatusPolicyViolation, "the subprotocol must be "+Subprotocol)
		return
	}
	conn := newLink(websocket.NetConn(context.WithoutCancel(r.Context()), ws, websocket.MessageBinary))
	mux, err := yamux.Client(conn, session())
	if err != nil {
		h.log.Error("open a bridge's tunnel", "bridge", bridge, "error", err)
		return
	}
	var attending sync.WaitGroup
	defer attending.Wait()
	attending.Go(func() { attend(mux, conn, h.keepAlive, hubPatience) })
	e := &end{mux, transport(mux)}
	defer e.close()
	if !h.enter(bridge, e) {
		return
	}
	defer h.leave(bridge, e)
	h.log.Info("a bridge's tunnel stands", "bridge", bridge)
	if told.Stands != nil {
		told.Stands()
	}
	select {
	case <-mux.CloseChan():
	case <-r.Context().Done():
		if !errors.Is(context.Cause(r.Context()), context.Canceled) {
			h.leave(bridge, e)
			e.finish(h.endPatience)
		}
	}
	h.log.Info("a bridge's tunnel has ended", "bridge", bridge)
	if told.Ended != nil {
		told.Ended(conn.last())
	}
}

// transport makes HTTP connections of the session's streams.
func transport(mux *yamux.Session) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return mux.Open()
		},
		DisableCompression:     true,
		ResponseHeaderTimeout:  15 * time.Second,
		IdleConnTimeout:        time.Minute,
		MaxIdleConns:           2,
		MaxIdleConnsPerHost:    2,
		MaxConnsPerHost:        maxWaiting,
		MaxResponseHeaderBytes: 32 << 10,
	}
}

func (e *end) close() {
	_ = e.mux.Close()
	e.transport.CloseIdleConnections()
}

// endPatience is how long requests under way may take when their tunnel is to end: most take a few
// hundred milliseconds, and the bridge cannot open its next tunnel before.
const endPatience = 2 * time.Second

// finish waits for what is under way. Nobody finds the tunnel any more.
func (e *end) finish(patience time.Duration) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(patience); time.Now().Before(late) && !e.mux.IsClosed(); <-tick.C {
		e.transport.CloseIdleConnections()
		if e.mux.NumStreams() == 0 {
			return
		}
	}
}

func (h *Hub) enter(bridge string, e *end) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	if old := h.ends[bridge]; old != nil {
		go old.close() // it may block on a dead connection
	}
	h.ends[bridge] = e
	return true
}

func (h *Hub) leave(bridge string, e *end) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ends[bridge] == e {
		delete(h.ends, bridge)
	}
}

// Transport asks a bridge through its tunnel; the host in a request's address means nothing. ok is
// false if the bridge is away. A transport whose tunnel has ended fails every request.
func (h *Hub) Transport(bridge string) (transport http.RoundTripper, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.ends[bridge]
	if e == nil || e.mux.IsClosed() {
		return nil, false
	}
	return e.transport, true
}

// Stands says whether a bridge has a tunnel.
func (h *Hub) Stands(bridge string) bool {
	_, ok := h.Transport(bridge)
	return ok
}

// Up is how many bridges have a tunnel.
func (h *Hub) Up() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.ends)
}

// Drop ends a bridge's tunnel, as when its token was revoked. It may dial again.
func (h *Hub) Drop(bridge string) {
	h.mu.Lock()
	e := h.ends[bridge]
	h.mu.Unlock()
	if e != nil {
		e.close()
	}
}

// Close ends all tunnels and takes no new ones.
func (h *Hub) Close() error {
	h.mu.Lock()
	h.closed = true
	ends := make([]*end, 0, len(h.ends))
	for _, e := range h.ends {
		ends = append(ends, e)
	}
	h.mu.Unlock()
	for _, e := range ends {
		e.close()
	}
	return nil
}
