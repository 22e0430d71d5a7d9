package outbound

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/sync/errgroup"

	"vmsbridge/agent/clock"
	"vmsbridge/agent/supervisor"
	"vmsbridge/configs"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/client/signin"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

// drain is how long reports under way may take when the bridge stops.
const drain = 1500 * time.Millisecond

// authPause is how long the service is left alone, at least, after it refused the token.
const authPause = 30 * time.Second

// Service is the bridge's link to the service: it registers the bridge and its cameras, drains the
// outbox, and keeps the tunnel through which the service asks back. Events wait for the first
// registration, because a service that does not know a camera refuses its events.
type Service struct {
	client   *client.Client
	delivery *delivery.Engine
	source   *signin.Source // nil: the token is given
	tunnel   *tunnel.Dialer // nil: none is wanted
	profile  func() vms.Registration
	log      *slog.Logger

	book     *book
	clock    *clock.Clock  // nothing is reported before it is true
	stopping chan struct{} // closed when Run's context is done

	// closed once the service has answered that it knows the bridge, or that it needs no
	// registration
	known chan struct{}

	registers atomic.Bool   // the service has taken a registration
	again     chan struct{} // buffered 1: it is to be told again soon

	registered, reportedAgain prometheus.Counter

	mu       sync.Mutex  // guards the rest
	trouble  error       // why the service does not know the bridge yet, nil if it does
	attempts int         // at the first registration
	said     client.Said // to the last registration
	saidAt   time.Time   // when trouble was logged
}

// service makes the link to the service that s configures. It does not run yet.
func (o *Outbound) service(s configs.Service, bridge string, reg prometheus.Registerer) (*Service, error) {
	l, err := newService(s, o.o, reg)
	if err != nil || !s.Tunnel {
		return l, err
	}
	handler, err := o.o.Tunnel()
	if err != nil {
		return nil, err
	}
	return l, l.keepTunnel(s.URL, bridge, handler)
}

func newService(s configs.Service, opts Options, reg prometheus.Registerer) (*Service, error) {
	o := client.Options{BaseURL: s.URL, Token: serviceToken(s), CAFile: s.CAFile, Fingerprint: s.TLSFingerprint,
		Wrap: opts.Clock.Transport, UserAgent: "vmsbridge/" + opts.Version, Log: opts.Log}
	c, err := client.New(o)
	if err != nil {
		return nil, err
	}
	var source *signin.Source
	if s.SessionFile != "" {
		source = signin.New(signin.Options{Path: s.SessionFile, HTTP: c.HTTP(), Log: opts.Log})
		o.Credentials, o.HTTP = source, c.HTTP()
		if c, err = client.New(o); err != nil {
			return nil, err
		}
	}
	l := &Service{book: newBook(opts.Journal), client: c, source: source, clock: opts.Clock,
		stopping: make(chan struct{}),
		profile:  opts.Profile, log: opts.Log, known: make(chan struct{}), again: make(chan struct{}, 1)}
	f := promauto.With(reg)
	l.registered = f.NewCounter(prometheus.CounterOpts{Name: "vmsbridge_link_registrations_total",
		Help: "Registrations that the service took."})
	l.reportedAgain = f.NewCounter(prometheus.CounterOpts{Name: "vmsbridge_link_reported_again_total",
		Help: "Events that the service had lost, and that are reported again."})
	open := func(ctx context.Context) (<-chan delivery.Verdict, delivery.Verdict) {
		return nil, client.Verdict(l.begin(ctx))
	}
	l.delivery = delivery.New(opts.Journal, &client.Sink{Service: c, Register: l.introduce, Log: opts.Log},
		delivery.Options{
			AtOnce: c.AtOnce, AuthPause: authPause, Drain: drain, Open: open, Log: opts.Log.With("sink", "service"),
			Kept: "; see it with: vmsbridge queue", Metrics: client.Metrics(reg)})
	return l, nil
}

// Run keeps the registration and the tunnel fresh and reports, until ctx is done.
func (l *Service) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, func() { close(l.stopping) })()
	g.Go(supervisor.Caught(func() error { return l.delivery.Run(ctx) }))
	g.Go(supervisor.Caught(func() error { return l.refresh(ctx) }))
	g.Go(supervisor.Caught(func() error { return l.goodbye(ctx) }))
	g.Go(supervisor.Caught(func() error { return l.reportAgain(ctx) }))
	if l.tunnel != nil {
		g.Go(supervisor.Caught(func() error {
			if !l.waitKnown(ctx) {
				return ctx.Err()
			}
			return l.tunnel.Run(ctx)
		}))
	}
	return g.Wait()
}

// waitKnown waits until the service knows the bridge; false: ctx is done.
func (l *Service) waitKnown(ctx context.Context) bool {
	select {
	case <-l.known:
		return true
	case <-ctx.Done():
		return false
	}
}

// begin comes before the first report: the service must know the bridge, and the bridge the time.
func (l *Service) begin(ctx context.Context) error {
	if !isClosed(l.known) {
		if err := l.registerFirst(ctx); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-l.stopping:
			stop()
		case <-ctx.Done():
		}
	}()
	return l.clock.Wait(ctx)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Settle waits a moment for the last events, the ends of what was going on, to reach a service that
// takes events now. What does not make it stays in the outbox.
func (l *Service) Settle() {
	if l.clock.State().Source == clock.Waiting {
		return // nothing is to leave
	}
	deadline := time.Now().Add(drain)
	for time.Now().Before(deadline) && l.Problem() == "" {
		if s, err := l.book.outbox.OutboxStats(); err != nil || s.Waiting == 0 {
			return
		}
		time.Sleep(drain / 100)
	}
}

// serviceToken gives the bridge's token; one in a file is read again when the service refuses it,
// so that it can be renewed without a restart.
func serviceToken(s configs.Service) func() (string, error) {
	if s.TokenFile != "" {
		return client.TokenFile(s.TokenFile)
	}
	return client.Token(s.Token.Reveal())
}
