package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	page "vmsbridge/agent/web"
	"vmsbridge/cmd/cli"
	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/oauth"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

type runCmd struct {
	storeFlag
	signInFlags
	limitFlags
	Listen      string        `help:"Address to listen on." default:"127.0.0.1:8470" env:"VMSCLOUD_LISTEN" placeholder:"HOST:PORT"`
	PublicURL   string        `name:"public-url" help:"Address under which bridges and users reach it; that of --listen if left out." env:"VMSCLOUD_PUBLIC_URL" placeholder:"URL"`
	Host        []string      `help:"Name under which clients may reach it and be told so, without --public-url; repeat for more. Else they are told the address that they reached." env:"VMSCLOUD_HOST" placeholder:"NAME"`
	TLSCert     string        `name:"tls-cert" help:"Certificate in PEM form; with it and the key it serves https." env:"VMSCLOUD_TLS_CERT" type:"existingfile" placeholder:"FILE"`
	TLSKey      string        `name:"tls-key" help:"Key of the certificate." env:"VMSCLOUD_TLS_KEY" type:"existingfile" placeholder:"FILE"`
	Keep        time.Duration `help:"Remove events that ended longer ago than this, such as 365d; 0 keeps all." default:"90d" env:"VMSCLOUD_KEEP"`
	MaxSize     room          `name:"max-size" help:"What all events may take, such as 20GB or 50% of the disk; beyond it the oldest go, of the accounts that have most. 0 sets no limit." default:"50%" env:"VMSCLOUD_MAX_SIZE" placeholder:"SIZE"`
	KeepTrail   time.Duration `help:"Remove entries of the trail of changes that are older than this; 0 keeps all." default:"400d" env:"VMSCLOUD_KEEP_TRAIL"`
	Direct      []string      `help:"Address or range, such as 10.0.0.0/8, where bridges without a tunnel may be asked at the address that they name; repeat for more. Left out, none are." env:"VMSCLOUD_DIRECT" placeholder:"RANGE"`
	Targets     []string      `name:"webhook-target" help:"Host, address or range, such as hooks.example.org or 10.0.0.0/8, to which subscribers may have events sent; repeat for more. Left out, none." env:"VMSCLOUD_WEBHOOK_TARGET" placeholder:"HOST"`
	PrintEvents bool          `help:"Print a line on standard output for each event that is accepted, and for its end." env:"VMSCLOUD_PRINT_EVENTS"`
	Drain       time.Duration `help:"How long it goes on when it is to stop, with /readyz at 503, while it ends streams and tunnels evenly, for a balancer to lead them elsewhere; where there are none it stops at once. Such as 30s where several nodes serve." default:"0s" env:"VMSCLOUD_DRAIN"`
	LogLevel    slog.Level    `help:"debug, info, warn or error." default:"info" env:"VMSCLOUD_LOG_LEVEL" placeholder:"LEVEL"`
	LogFormat   string        `help:"text or json." enum:"text,json" default:"text" env:"VMSCLOUD_LOG_FORMAT"`

	NodeAddress string `name:"node-address" help:"Private address where other nodes of the same --store reach this one; with it several may run, on as many machines." env:"VMSCLOUD_NODE_ADDRESS" placeholder:"HOST:PORT"`

	node    *node // nil: it is the only one
	direct  direct
	targets targets
	hooks   *hooks // of subscriptions
	log     *slog.Logger
}

// lastRequests is how long requests under way may take when it stops.
const lastRequests = 3 * time.Second

func (c runCmd) Run() error {
	log, lines := cli.NewLog(os.Stderr, c.LogFormat, c.LogLevel)
	defer lines.Close()
	c.log = log
	ctx, stopped := cli.OnSignal(context.Background(), log, func(code int) { _ = lines.Close(); os.Exit(code) })
	defer stopped()
	if err := c.check(); err != nil {
		return err
	}
	if c.NodeAddress != "" {
		return c.serveNode(ctx)
	}
	return c.serve(ctx)
}

// check reads what kong does not.
func (c *runCmd) check() (err error) {
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key belong together")
	}
	if c.direct, err = prefixes("--direct", c.Direct); err != nil {
		return err
	}
	if c.targets, err = newTargets(c.Targets); err != nil {
		return err
	}
	if c.Store != "" && (c.MaxSize.bytes > 0 || c.AccountEvents.bytes > 0) {
		return errors.New("--max-size and --account-events set no limit in PostgreSQL: leave them out, and set --keep")
	}
	return nil
}

// listen is the port, which a node keeps.
// listenError says what to do about an address that cannot be listened on.
func listenError(err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("listen: %w (is another vmscloud running? choose another --listen)", err)
	}
	return fmt.Errorf("listen: %w (write --listen HOST:PORT with an address of this machine)", err)
}

func (c runCmd) listen() (net.Listener, error) {
	if c.node != nil {
		return keptListener{c.node.public}, nil
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, listenError(err)
	}
	return l, nil
}

// serve opens the stores, serves until ctx is done, and closes them in the reverse order.
func (c runCmd) serve(ctx context.Context) (err error) {
	log := c.log
	if err := c.exists(); err != nil {
		return err
	}
	s, err := c.open(log)
	defer func() { err = errors.Join(err, s.close()) }()
	if err == nil {
		err = c.openRegistry(s, log)
	}
	if err != nil {
		return err
	}
	ids, reg := s.ids, s.reg
	if err := adopt(ids, reg, log); err != nil {
		return err
	}
	if accounts, err := ids.Accounts(); err != nil {
		return err
	} else if len(accounts) == 0 {
		return c.noAccount()
	}
	ids.Owners(func(account, camera string) bool {
		return reg.Owns(account, vms.Actor{Type: vms.ActorCamera, ID: camera})
	})
	metrics := prometheus.NewRegistry()
	if err := c.openEvents(s, metrics, log); err != nil {
		return err
	}

	if c.mailer, err = c.openMailer(ids, log); err != nil {
		return err
	}
	l, err := c.listen()
	if err != nil {
		return err
	}
	base := c.baseURL(l.Addr().(*net.TCPAddr))
	c.base = base
	book := &ledger{Journal: s.events, registry: reg, log: log}
	stream, waiting, err := c.follow(book, ids)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer c.hooks.Close()
	if c.PrintEvents {
		book.announce = newAnnouncer(reg, base, log)
	}
	if err := errors.Join(book.forgetOrphans(ids), recordDevices(ids, reg, "", "")); err != nil {
		return errors.Join(err, l.Close())
	}
	hub := tunnel.NewHub(0, log)
	if book.presence, err = watchBridges(book, reg, time.Now, log); err != nil {
		return errors.Join(err, l.Close())
	}
	reg.Away, reg.LastSeen, reg.Holds = book.presence.Away, book.presence.LastSeen, ids.HolderStands
	c.limit(reg, ids, book)
	condition, err := newHealth(c.Data, book, ids, reg, log)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if s.db != nil {
		condition.more = append(condition.more, s.db.ClockWrong)
	}
	handler, api, err := c.handler(ids, reg, book, hub, condition, metrics, log, waiting)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if book.announce != nil {
		// It ends after the last request is answered: that may be an event too.
		printing, stop := context.WithCancel(context.WithoutCancel(ctx))
		printed := make(chan struct{})
		out := cli.NewLines(os.Stdout, func(n int) []byte {
			return fmt.Appendf(nil, "%d lines are missing here: nobody took them in time\n", n)
		})
		go func() {
			defer close(printed)
			book.announce.Run(printing, out)
		}()
		defer func() { stop(); <-printed; _ = out.Close() }()
	}
	if err := stream.read(); err != nil { // what the start itself stored is nobody's news
		return errors.Join(err, l.Close())
	}
	admin := adminHandler(ids, reg, book.file(), log)
	serveFront := func(ctx context.Context) error { return c.node.serves(ctx, s.db, handler, admin) }
	var web *http.Server // nil: a node has it
	if c.node == nil {
		front, err := c.front(l, handler, log)
		if err != nil {
			return errors.Join(err, l.Close())
		}
		web = front.http
		serveFront = func(ctx context.Context) error {
			return serveHTTP(ctx, front.http, front.l, c.TLSCert, c.TLSKey, log)
		}
	}
	stopping := ctx
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { defer end(); c.drain(ctx, stopping, web, api, condition, log); return nil })
	// the server does not wait for tunnels, and would for streams
	context.AfterFunc(ctx, func() { _ = hub.Close(); book.feed.Close() })
	g.Go(func() error { return serveFront(ctx) })
	socket, err := c.listenAdmin()
	if err != nil {
		log.Warn("token commands will not work while this runs", "error", err)
	} else {
		g.Go(func() error { return serveHTTP(ctx, server.NewHTTP(admin, log), socket, "", "", log) })
	}
	// Last, since whoever waits for it may run a command at once.
	log.Info("vmscloud serves", "version", version(), "address", l.Addr().String(), "public_url", base, "data",
		c.place())
	g.Go(func() error { return stream.Run(ctx) })
	if s.db != nil {
		g.Go(func() error { return s.db.Run(ctx) })
	}
	// Bridges whose tunnels are ended here are not lost.
	watching, unwatch := context.WithCancel(ctx)
	defer unwatch()
	context.AfterFunc(stopping, unwatch)
	g.Go(func() error { return book.presence.Run(watching) })
	g.Go(func() error { return book.keepWeighing(ctx) })
	g.Go(func() error { return c.mailer.Run(ctx) })
	g.Go(func() error { return tidy(ctx, ids, log) })
	people := notify.NewStatusNotifier(notify.StatusOptions{Store: ids, Post: c.mailer,
		Picture: lastPicture(newBridgeImages(reg, hub, c.direct, log)), Log: log})
	g.Go(func() error { return notices{book, people, log}.Run(ctx) })
	g.Go(func() error {
		return notify.NewAuditExporter(notify.AuditOptions{Store: ids, Events: book, Forget: book.forget,
			Keep: c.KeepTrail, Log: log}).Run(ctx)
	})
	g.Go(func() error { return newRetention(book, c.Data, c.Keep, c.MaxSize, metrics, log).Run(ctx) })
	g.Go(func() error { return condition.Run(ctx) })
	g.Go(func() error { return condition.watch.Run(ctx) })
	err = g.Wait()
	log.Info("vmscloud stops")
	return err
}

// drain returns when the service is to stop serving: when stopping is done, and streams and tunnels
// have been ended. ctx is done if it stops for another reason.
func (c runCmd) drain(ctx, stopping context.Context, web *http.Server, api *server.Server, condition *health,
	log *slog.Logger) {
	select {
	case <-ctx.Done():
		return
	case <-stopping.Done():
	}
	condition.draining.Store(true)
	if c.Drain > 0 {
		log.Info("streams and tunnels are ended", "within", c.Drain)
		web.SetKeepAlivesEnabled(false) // who asks again does so over a new connection
		api.Drain(ctx, c.Drain)
	}
}

// follow opens the cursors of streams and of the webhooks that were kept, which wait to be served.
func (c *runCmd) follow(book *ledger, ids *store.Store) (*streams, map[string]cursor, error) {
	kept, err := book.registry.Subscriptions()
	if err != nil {
		return nil, nil, err
	}
	hookIDs := keptHooks(kept)
	names := []string{streamsCursor}
	for _, id := range hookIDs {
		names = append(names, hookCursor+id)
	}
	f := newFollowers(book.Journal)
	c.hooks = &hooks{followers: f, targets: c.targets, ids: ids, log: book.log, running: map[string]running{}}
	list, err := f.open(names...)
	if err != nil {
		return nil, nil, err
	}
	waiting := map[string]cursor{}
	for i, id := range hookIDs {
		waiting[id] = list[i+1]
	}
	stream, err := book.openStreams(list[0])
	return stream, waiting, err
}

// baseURL is the public address. Without one, a server that listens everywhere names the loopback
// address in what it prints; its clients are told the host that they used.
func (c runCmd) baseURL(addr *net.TCPAddr) string {
	if c.PublicURL != "" {
		return strings.TrimRight(c.PublicURL, "/")
	}
	host := addr.String()
	if addr.IP.IsUnspecified() {
		host = net.JoinHostPort("127.0.0.1", strconv.Itoa(addr.Port))
	}
	scheme := "http"
	if c.TLSCert != "" {
		scheme = "https"
	}
	return scheme + "://" + host
}

// handler puts the stores behind the interface, and the health checks and metrics beside it.
func (c runCmd) handler(ids *store.Store, reg *registry.Registry, book *ledger, hub *tunnel.Hub, condition *health,
	metrics *prometheus.Registry,
	log *slog.Logger, waiting map[string]cursor) (http.Handler, *server.Server, error) {
	key, err := reg.Key("page-token", func() []byte {
		b := make([]byte, 32)
		_, _ = rand.Read(b) // never fails
		return b
	})
	if err != nil {
		return nil, nil, err
	}
	metrics.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "vmscloud_tunnels",
			Help: "Bridges that have a tunnel to this service."},
			func() float64 { return float64(hub.Up()) }))
	bridges := newBridgeImages(reg, hub, c.direct, log)
	kept, err := openMarks(book)
	if err != nil {
		return nil, nil, err
	}
	api, err := server.New(server.Options{
		Events: book, Cameras: cameras{reg, ids}, Directory: ids, Images: bridges, Statuses: bridges, Auth: ids,
		Bridges: door{reg, kept, book.presence, ids}, Tunnels: tunnels{reg, hub, book.presence},
		Unasked: c.direct.unasked, Refused: reg.Refused, Twins: reg.Twins, Feed: book.feed,
		Subscriptions: reg, Webhooks: c.hooks, NotFound: journal.ErrNotFound, BaseURL: c.PublicURL, Host: c.names(log),
		TokenKey: key, Log: log, Registerer: metrics,
	})
	if err != nil {
		return nil, nil, err
	}
	for _, w := range api.Webhooks() {
		if err := c.hooks.start(w, waiting[w.ID]); err != nil {
			log.Error("a webhook cannot be served", "webhook", w.ID, "error", err)
		}
	}
	mux := http.NewServeMux()
	people, tokens, err := c.identityHandlers(ids, reg, log)
	if err != nil {
		return nil, nil, err
	}
	for path, h := range map[string]http.Handler{"/api": api, "/g": people, "/oauth2": tokens} {
		mux.Handle(path, h) // net/http would redirect it, in HTML
		mux.Handle(path+"/", h)
	}
	mux.Handle("/", page.Handler(page.Service))
	mux.HandleFunc("GET /web/begin", c.begin)
	mux.Handle("GET "+server.PathSnapshot, server.Snapshot(api))
	mux.Handle(oauth.PathReseller, tokens)
	mux.Handle(oauth.PathWellKnown, tokens)
	if book.empty() {
		condition.more = append(condition.more, func() string {
			return "the book of events was empty at the start, though bridges are registered: was it lost? They " +
				"report again what they hold"
		})
	}
	mux.HandleFunc("GET /healthz", condition.healthz)
	mux.HandleFunc("GET /readyz", condition.readyz)
	mux.Handle("GET /metrics", server.WithToken(operators{ids}, promhttp.HandlerFor(metrics, promhttp.HandlerOpts{})))
	return people.Behind(mux), api, nil
}

// cutOff is what is logged of requests that outlast the drain.
const cutOff = "requests that were still under way are cut off"

// serveHTTP serves until ctx is done, then lets requests under way finish.
func serveHTTP(ctx context.Context, s *http.Server, l net.Listener, cert, key string, log *slog.Logger) error {
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRequests)
		defer cancel()
		err := s.Shutdown(limit)
		if errors.Is(err, context.DeadlineExceeded) {
			log.Warn(cutOff, "after", lastRequests)
			err = s.Close() // its client will ask again
		}
		stopped <- err
	})
	var err error
	if cert != "" || s.TLSConfig != nil {
		err = s.ServeTLS(l, cert, key)
	} else {
		err = s.Serve(l)
	}
	if !errors.Is(err, http.ErrServerClosed) {
		stop()
		return fmt.Errorf("serve: %w", err)
	}
	return <-stopped
}
