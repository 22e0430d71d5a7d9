package api

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"vmsbridge/agent/health"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/server/feed"
)

// drain is how long requests under way may take when the bridge stops, which is to take five
// seconds at most: at worst the writer of events, the last reports and then these follow each
// other.
const drain = 1500 * time.Millisecond

// API is the bridge's local HTTP side. Its methods are safe for concurrent use.
type API struct {
	opts   Options
	users  *users
	tokens tokens
	cert   certificate
	http   *http.Server
	tls    *tls.Config    // nil: plain
	v3     *server.Server // the addresses below /api/
	local  *http.Server
	// socket is the control socket, nil as long as it cannot be made, and told that people were
	// told of that.
	socket net.Listener
	told   bool

	feed        *feed.Feed // of events, for those who subscribe
	unsubscribe func()     // nil: it was not made
}

// Close lets go of the users' file and the control socket.
func (a *API) Close() error {
	err := a.users.Close()
	if a.unsubscribe != nil {
		a.unsubscribe()
		a.feed.Close()
	}
	if a.socket != nil {
		err = errors.Join(err, ignoreClosed(a.socket.Close()))
	}
	return err
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (a *API) metrics() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		promhttp.HandlerFor(a.opts.Metrics(), promhttp.HandlerOpts{}).ServeHTTP(w, r)
	})
}

// Server is the HTTP server of the local API, for its listener.
func (a *API) Server() *http.Server { return a.http }

// Run serves on l until ctx is done.
func (a *API) Run(ctx context.Context, l net.Listener) error {
	if a.tls != nil {
		l = tls.NewListener(l, a.tls)
	}
	return serve(ctx, a.http, l)
}

// keepEvery is how often what the API keeps is looked after.
const keepEvery = time.Hour

// Keep looks after what the API keeps until ctx is done: a certificate of its own that ends soon is
// made anew, and what is over goes from the users' file.
func (a *API) Keep(ctx context.Context) error {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		a.cert.renew(a.opts.Config(), a.opts.Log)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		a.users.tidy(a.opts.Log)
	}
}

// Report fills in what the API says of itself.
func (a *API) Report(r *health.Report) {
	r.Users = a.users.report()
	r.Certificate = a.cert.own(a.opts.Config())
}

// serve serves on l until ctx is done; requests under way then get a moment.
func serve(ctx context.Context, s *http.Server, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	defer func() { cancel(); <-stopped }()
	go func() {
		defer close(stopped)
		<-ctx.Done()
		moment, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		if s.Shutdown(moment) != nil {
			_ = s.Close()
		}
	}()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// pageKey signs the page tokens that clients hold. It is kept in the journal, so that they stay
// good over a restart; a damaged one is made anew, and clients then begin their lists again.
func (a *API) pageKey() ([]byte, error) {
	const name, size = "page-token-key", 32
	if key, err := a.opts.Archive.Journal.Meta(name); err == nil && len(key) == size {
		return key, nil
	}
	key := make([]byte, size)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	if err := a.opts.Archive.Journal.SetMeta(name, key); err != nil && !errors.Is(err, journal.ErrFull) {
		return nil, fmt.Errorf("keep the key of page tokens: %w", err)
	}
	return key, nil
}
