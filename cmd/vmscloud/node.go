package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"vmsbridge/storage/postgres"
	"vmsbridge/uplink/admit"
	"vmsbridge/uplink/server"
)

// Several nodes serve one database (--node-address). One leads: it has the database, knows what is
// in memory, and does all that is done once. The others take connections in, end their TLS, and
// pass each request on to it (pass.go); when it is gone, one of them takes its place. So what holds
// of one vmscloud holds of all of them together.

// node is one of several.
type node struct {
	address string // for the others
	log     *slog.Logger
	here    atomic.Pointer[term] // nil: another one leads, or none
	there   leaders
	public  net.Listener

	draining atomic.Bool
	mu       sync.Mutex // guards lasting
	lasting  map[*passing]struct{}
}

// term is the time for which this node leads.
type term struct {
	front, admin http.Handler
	tls          *tls.Config
	held         func() bool // the database

	mu      sync.Mutex // guards what follows
	running int        // requests
	stopped bool
	idle    chan struct{} // closed when it is stopped and none runs
}

// note is what a leader tells the others over the database. Who reads it may act for a node, as who
// reads the database has all secrets. The secret is another one for each term, so that one who led
// before is not heard any more.
type note struct {
	Address string `json:"address"`
	Secret  []byte `json:"secret"` // of an Ed25519 key, which both ends show
}

// checkNodeAddress is nil if other nodes can be told the address.
func checkNodeAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if ip, ipErr := netip.ParseAddr(host); err != nil || host == "" || port == "" ||
		ipErr == nil && ip.IsUnspecified() {
		return fmt.Errorf("--node-address %q must be the HOST:PORT where the other nodes reach this one", address)
	}
	return nil
}

// keptListener is a listener that outlasts a term.
type keptListener struct{ net.Listener }

func (keptListener) Close() error { return nil }

// serveNode leads whenever no other node does, and passes on what comes meanwhile.
func (c runCmd) serveNode(ctx context.Context) error {
	log := c.log
	if c.Store == "" {
		return errors.New("--node-address is for several nodes on one PostgreSQL: name it with --store")
	}
	if err := checkNodeAddress(c.NodeAddress); err != nil {
		return err
	}
	public, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return listenError(err)
	}
	private, err := net.Listen("tcp", c.NodeAddress)
	if err != nil {
		return errors.Join(fmt.Errorf("listen for other nodes: %w", err), public.Close())
	}
	host, _, _ := net.SplitHostPort(c.NodeAddress)
	_, port, _ := net.SplitHostPort(private.Addr().String()) // a free one where 0 was asked for
	c.node = &node{address: net.JoinHostPort(host, port), log: log, public: public, lasting: map[*passing]struct{}{}}
	c.node.there.changed = make(chan struct{})
	front, err := c.front(public, c.node, log)
	if err != nil {
		return errors.Join(err, public.Close(), private.Close())
	}
	hops := c.node.hops(private)
	stopping := ctx
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer end()
		select {
		case <-ctx.Done():
		case <-stopping.Done():
			c.node.drain(ctx, c.Drain, front.http)
		}
		return nil
	})
	context.AfterFunc(ctx, c.node.there.close) // tunnels and streams, for which the server would wait
	g.Go(func() error { return serveHTTP(ctx, front.http, front.l, c.TLSCert, c.TLSKey, log) })
	g.Go(func() error { return serveHTTP(ctx, hops.http, hops.l, "", "", log) })
	g.Go(func() error { return c.terms(ctx, stopping, log) })
	log.Info("vmscloud is a node", "version", version(), "address", public.Addr().String(), "node_address",
		c.node.address)
	return g.Wait()
}

// terms waits for the database and leads, again and again until stopping is done, and follows then
// until ctx is.
func (c runCmd) terms(ctx, stopping context.Context, log *slog.Logger) error {
	name, _ := os.Hostname()
	c.Drain = 0 // who leads gives that up at once: what it ended would be that of other nodes too
	for {
		err := c.awaits(ctx, postgres.Options{Name: name, Log: log})
		if err == nil && stopping.Err() == nil {
			err = c.serve(stopping)
		}
		switch {
		case ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err())):
			return nil
		case stopping.Err() != nil && (err == nil || errors.Is(err, stopping.Err())):
			select {
			case <-ctx.Done():
			case <-time.After(hopAgain): // no node leads
			}
		case errors.Is(err, postgres.ErrBusy): // another node was faster
		case errors.Is(err, postgres.ErrTaken):
			log.Warn("another node leads now; this one passes requests on to it")
		case err != nil:
			return err
		}
	}
}

// awaits passes on what comes until this node may lead.
func (c runCmd) awaits(ctx context.Context, o postgres.Options) error {
	ctx, stop := context.WithCancel(ctx)
	g, ctx := errgroup.WithContext(ctx)
	if socket, err := c.listenAdmin(); err != nil {
		o.Log.Warn("token commands will not work while this runs", "error", err)
	} else {
		g.Go(func() error {
			return serveHTTP(ctx, server.NewHTTP(c.node.passTo(toAdmin), o.Log), socket, "", "", o.Log)
		})
	}
	g.Go(func() error {
		defer stop()
		return postgres.Await(ctx, c.Store, o, func(l postgres.Leader) { c.node.there.follow(l, o.Log) })
	})
	return g.Wait()
}

// serves has a node serve until ctx is done what one that has the database alone serves at its
// port.
func (n *node) serves(ctx context.Context, db *postgres.DB, front, admin http.Handler) error {
	secret := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(secret) // never fails
	both, err := bothEnds(secret)
	if err != nil {
		return err
	}
	text, err := json.Marshal(note{n.address, secret})
	if err != nil {
		return err
	}
	t := &term{front: front, admin: admin, tls: both, held: db.Held, idle: make(chan struct{})}
	n.here.Store(t)
	defer t.stop(n.log)
	defer n.here.Store(nil)
	if err := db.Announce(text); err != nil {
		return fmt.Errorf("tell the other nodes that this one leads: %w", err)
	}
	<-ctx.Done()
	return nil
}

// ServeHTTP answers what came to this node's own port.
func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if n.draining.Load() && r.URL.Path == "/readyz" {
		http.Error(w, "the service is about to stop", http.StatusServiceUnavailable)
		return
	}
	if t := n.leads(); t != nil && t.serve(w, r, t.front) {
		return
	}
	n.passOn(w, r)
}

// leads is the term for which this node leads, nil if another one may lead meanwhile: this one,
// frozen or cut off from the database, would answer by rights that may hold no longer.
func (n *node) leads() *term {
	if t := n.here.Load(); t != nil && t.held() {
		return t
	}
	return nil
}

// serve answers a request, unless the term is over.
func (t *term) serve(w http.ResponseWriter, r *http.Request, h http.Handler) bool {
	t.mu.Lock()
	stopped := t.stopped
	if !stopped {
		t.running++
	}
	t.mu.Unlock()
	if stopped {
		return false
	}
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.running--; t.stopped && t.running == 0 {
			close(t.idle)
		}
	}()
	h.ServeHTTP(w, r)
	return true
}

// stop waits for requests under way, for as long as they may take when a service stops.
func (t *term) stop(log *slog.Logger) {
	t.mu.Lock()
	t.stopped = true
	if t.running == 0 {
		close(t.idle)
	}
	t.mu.Unlock()
	select {
	case <-t.idle:
	case <-time.After(lastRequests):
		log.Warn(cutOff, "after", lastRequests)
	}
}

// hops is the port for other nodes. What they pass on is not from them, so that as many connections
// as come may do so.
func (n *node) hops(l net.Listener) front {
	door := admit.New(l, admit.Options{Total: 4 * connections, PerAddress: 4 * connections, Strangers: strangers,
		Exempt: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}, Log: n.log})
	s := server.NewHTTP(http.HandlerFunc(n.hop), n.log)
	s.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS13}
	s.TLSConfig.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		if t := n.leads(); t != nil {
			return t.tls, nil
		}
		return nil, errors.New("this node does not lead")
	}
	door.Attach(s)
	return front{door, s}
}

// hop answers what another node passes on, as if it had come here.
func (n *node) hop(w http.ResponseWriter, r *http.Request) {
	from, local, scheme := cut3(r.Header.Get(headerHop))
	r.Header.Del(headerHop)
	t := n.leads()
	if t == nil {
		ledBefore(w)
		return
	}
	h := t.admin
	if from != toAdmin {
		h = t.front
		if r.RemoteAddr = from; scheme != "https" {
			r.TLS = nil
		}
		if at, err := netip.ParseAddrPort(local); err == nil {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey,
				net.Addr(net.TCPAddrFromAddrPort(at))))
		}
	}
	if !t.serve(w, r, h) {
		ledBefore(w)
	}
}

// ledBefore has another node ask again, if it can.
func ledBefore(w http.ResponseWriter) {
	w.Header().Set(headerHop, "gone")
	notNow(w, "This node led until a moment ago")
}

func cut3(s string) (a, b, c string) {
	a, s, _ = strings.Cut(s, " ")
	b, c, _ = strings.Cut(s, " ")
	return a, b, c
}

// bothEnds is how both ends of a connection between nodes show that they know the secret.
func bothEnds(secret []byte) (*tls.Config, error) {
	if len(secret) != ed25519.SeedSize {
		return nil, errors.New("the secret of the nodes is none")
	}
	key := ed25519.NewKeyFromSeed(secret)
	public := key.Public().(ed25519.PublicKey)
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0),
		NotAfter: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
	raw, err := x509.CreateCertificate(nil, form, form, public, key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS13,
		Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}},
		ClientAuth:   tls.RequireAnyClientCert,
		// The key alone is looked at, by VerifyConnection: it is nobody's but the nodes'.
		InsecureSkipVerify: true, //nolint:gosec // as above
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) != 1 || !public.Equal(s.PeerCertificates[0].PublicKey) {
				return errors.New("the other end is no node of this database")
			}
			return nil
		}}, nil
}
