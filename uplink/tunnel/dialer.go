package tunnel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/coder/websocket"
	"github.com/hashicorp/yamux"
)

// Options of New. URL, Bridge, Token and Handler are needed.
type Options struct {
	// URL is the service's address, such as https://vms.example; Path is appended.
	URL string
	// Base is the address at this moment, for a service that moves; nil for URL.
	Base func() string
	// Bridge is the id under which the bridge is registered. The service finds out whether the
	// token may speak for it.
	Bridge string
	// Token gives the bridge's bearer token; it is called for every dial.
	Token func(context.Context) (string, error)
	// Handler answers the service's requests. It must check who asks, as on any other way in.
	Handler http.Handler
	// HTTP dials; nil means http.DefaultClient. Its Timeout must be 0, as it would end the tunnel.
	HTTP *http.Client
	// KeepAlive is how long the connection is silent at most; a service that is gone is noticed
	// after twice as long at the latest. 0 means what the service says.
	KeepAlive time.Duration
	// MinPause and MaxPause bound the pauses between attempts; 0 means 1 s and 1 min.
	MinPause, MaxPause time.Duration
	// MaxRequests bounds the requests that are answered at a time, the others get 503; 0 means 8.
	MaxRequests int
	// Changed is called when the tunnel was lost, and when it stands again after that. It must not
	// block. Nil: nobody wants to know.
	Changed func()
	Log     *slog.Logger // nil: nothing is logged
}

// Dialer keeps a tunnel to the service. Up and Trouble may be called at any time; everything else
// is Run's.
type Dialer struct {
	opts    Options
	log     *slog.Logger
	busy    chan struct{}
	up      atomic.Bool
	lost    bool // of Run's goroutine: it stood before
	trouble atomic.Pointer[error]
}

// StatusError says that the service answered the dial with something else than a tunnel.
type StatusError struct {
	Code int // HTTP status
}

// Error says what to do about it.
func (e *StatusError) Error() string {
	switch e.Code {
	case http.StatusUnauthorized:
		return "the service refuses the bridge's credentials (401): sign in again, or put a new token into " +
			"service.token_file"
	case http.StatusForbidden:
		return "the service does not let this credential open a tunnel (403): it must be a bridge's own"
	case http.StatusConflict:
		return "the service does not know this bridge, or it is registered with another credential (409): it opens a " +
			"tunnel once it is registered with this one"
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return fmt.Sprintf(
			"the service takes no tunnels (%d); images can only be asked for where the bridge can be reached", e.Code)
	}
	return fmt.Sprintf("the service answers %d instead of opening the tunnel", e.Code)
}

// Unsupported says whether the service does not know tunnels at all.
func (e *StatusError) Unsupported() bool {
	return e.Code == http.StatusNotFound || e.Code == http.StatusMethodNotAllowed || e.Code == http.StatusNotImplemented
}

// unsupportedPause is how long a service without tunnels is left alone.
const unsupportedPause = 15 * time.Minute

// New checks the options. It does no I/O and starts nothing.
func New(o Options) (*Dialer, error) {
	u, err := url.Parse(strings.TrimRight(o.URL, "/"))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("make tunnel: the service's address must look like https://host or http://host:port")
	}
	if o.Token == nil || o.Handler == nil || o.Bridge == "" {
		return nil, errors.New("make tunnel: Bridge, Token and Handler are needed")
	}
	if o.MinPause == 0 {
		o.MinPause = time.Second
	}
	if o.MaxPause == 0 {
		o.MaxPause = time.Minute
	}
	if o.MaxRequests == 0 {
		o.MaxRequests = 8
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Base == nil {
		o.Base = func() string { return u.String() }
	}
	if o.Changed == nil {
		o.Changed = func() {}
	}
	return &Dialer{opts: o, log: o.Log, busy: make(chan struct{}, o.MaxRequests)}, nil
}

// Up says whether the tunnel stands.
func (d *Dialer) Up() bool { return d.up.Load() }

// Trouble says why the last attempt to open a tunnel failed; nil while it stands, and before the
// first attempt has ended.
func (d *Dialer) Trouble() error {
	if err := d.trouble.Load(); err != nil && !d.up.Load() {
		return *err
	}
	return nil
}

// Run dials, serves, and dials again, until ctx is done, and returns ctx's error. Pauses grow with
// jitter while the service cannot be reached. A refusal is logged once, and again when it is
// another one.
func (d *Dialer) Run(ctx context.Context) error {
	pause := &backoff.ExponentialBackOff{InitialInterval: d.opts.MinPause, MaxInterval: d.opts.MaxPause, Multiplier: 2,
		RandomizationFactor: 0.3}
	pause.Reset()
	said := ""
	for ctx.Err() == nil {
		stood, err := d.once(ctx)
		if ctx.Err() != nil {
			break
		}
		d.trouble.Store(&err)
		if stood {
			pause.Reset()
			said, d.lost = "", true
			d.opts.Changed()
			d.log.Info("the tunnel to the service was lost; dialling again", "reason", err)
		} else if err != nil && err.Error() != said {
			said = err.Error()
			d.log.Warn("open a tunnel to the service; the service cannot ask for images meanwhile", "error", err)
		}
		wait := pause.NextBackOff()
		if status := (*StatusError)(nil); errors.As(err, &status) && status.Unsupported() {
			wait = unsupportedPause
		}
		sleep(ctx, wait)
	}
	return ctx.Err()
}

// once opens the tunnel and serves it until it is lost. stood says that it was open.
func (d *Dialer) once(ctx context.Context) (stood bool, err error) {
	token, err := d.opts.Token(ctx)
	if err != nil {
		return false, err
	}
	address := strings.TrimRight(d.opts.Base(), "/") + Path + "?" + BridgeID + "=" + url.QueryEscape(d.opts.Bridge)
	dialing, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	ws, res, err := websocket.Dial(dialing, address, &websocket.DialOptions{HTTPClient: d.opts.HTTP,
		Subprotocols:    []string{Subprotocol},
		HTTPHeader:      http.Header{"Authorization": {"Bearer " + token}},
		CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		if res != nil && res.StatusCode != http.StatusSwitchingProtocols {
			return false, &StatusError{res.StatusCode}
		}
		return false, fmt.Errorf("dial the service: %w", withoutURL(err))
	}
	defer func() { _ = ws.CloseNow() }() // it may be closed already
	if ws.Subprotocol() != Subprotocol {
		return false, errors.New("what answers at the service's address opens a WebSocket, but no tunnel")
	}
	conn := newLink(websocket.NetConn(ctx, ws, websocket.MessageBinary))
	mux, err := yamux.Server(conn, session())
	if err != nil {
		return false, err
	}
	attended := make(chan bool, 1)
	go func() { attended <- attend(mux, conn, d.keepAlive(res.Header), dialerPatience) }()
	defer func() {
		_ = mux.Close() // it may be closed already
		if silent := <-attended; silent {
			err = errors.New("nothing came from the service any more")
		}
	}()
	d.trouble.Store(nil)
	d.up.Store(true)
	defer d.up.Store(false)
	d.log.Info("the tunnel to the service stands")
	if d.lost {
		d.opts.Changed()
	}
	return true, d.serve(ctx, mux)
}

// keepAlive is a bit more than the service's: while all is well it is the one that asks.
func (d *Dialer) keepAlive(said http.Header) time.Duration {
	k := otherKeepAlive
	if ms, err := strconv.Atoi(said.Get(HeaderKeepAlive)); err == nil && ms > 0 {
		k = min(k, time.Duration(ms)*time.Millisecond)
	}
	return cmp.Or(d.opts.KeepAlive, k) * 9 / 8
}

// serve answers requests until the session ends.
func (d *Dialer) serve(ctx context.Context, mux *yamux.Session) error {
	server := &http.Server{
		Handler:           http.HandlerFunc(d.limited),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      90 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(d.log.Handler(), slog.LevelDebug),
	}
	stop := context.AfterFunc(ctx, func() { _ = mux.Close() })
	defer stop()
	err := server.Serve(streams{mux})
	_ = server.Close() // the session's streams are gone with it
	if errors.Is(err, io.EOF) || errors.Is(err, yamux.ErrSessionShutdown) {
		return errors.New("the connection was closed")
	}
	return err
}

// limited answers a bounded number of requests at a time, so that the service cannot take the
// bridge's memory.
func (d *Dialer) limited(w http.ResponseWriter, r *http.Request) {
	select {
	case d.busy <- struct{}{}:
		defer func() { <-d.busy }()
		d.opts.Handler.ServeHTTP(w, r)
	default:
		w.Header().Set("Retry-After", "2")
		http.Error(w, "the bridge answers as many requests as it can already", http.StatusServiceUnavailable)
	}
}

// withoutURL drops the address from what net/http says; it is in the configuration, and somebody
// may have put a secret there.
func withoutURL(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
