package agent

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"vmsbridge/agent/clock"
	"vmsbridge/agent/panics"
	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/client/signin"
	"vmsbridge/uplink/reporter"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

// The service is told of the bridge at start, and again in case it has lost its memory.
const (
	registerEvery = time.Minute
	// linkDrain is how long reports under way may take when the bridge stops.
	linkDrain = 1500 * time.Millisecond
	// registerSay bounds the log lines about a registration that fails again and again for one reason.
	registerSay = 5 * time.Minute
)

const (
	refusesToken  = "the service refuses the bridge's token: put a new one into service.token_file"
	refusesSignIn = "the service refuses the bridge's sign-in: sign in again with vmsbridge login"
)

// link is the bridge's tie to the service: it registers the bridge and its cameras, then lets the reporter drain the
// outbox. Events wait for the first registration, because a service that does not know a camera refuses its events.
type link struct {
	client   *client.Client
	reporter *reporter.Reporter
	source   *signin.Source // nil: the token is given
	tunnel   *tunnel.Dialer // nil: none is wanted
	profile  func() vms.Registration
	log      *slog.Logger

	clock    *clock.Clock  // nothing is reported before it is true
	stopping chan struct{} // closed when Run's context is done

	known chan struct{} // closed once the service has answered that it knows the bridge, or that it needs no registration

	registers atomic.Bool // the service has taken a registration

	mu       sync.Mutex // guards the rest
	trouble  error      // why the service does not know the bridge yet, nil if it does
	attempts int        // at the first registration
	saidAt   time.Time  // when trouble was logged
}

// newLink returns nil if no service is configured. profile says what the service is to know of the bridge.
func newLink(s configs.Service, outbox *journal.Journal, watch *clock.Clock, profile func() vms.Registration, version string, reg prometheus.Registerer, log *slog.Logger) (*link, error) {
	if s.URL == "" {
		return nil, nil
	}
	o := client.Options{BaseURL: s.URL, Token: serviceToken(s), CAFile: s.CAFile, Fingerprint: s.TLSFingerprint, Wrap: watch.Transport, UserAgent: "vmsbridge/" + version, Log: log}
	c, err := client.New(o)
	if err != nil {
		return nil, err
	}
	var source *signin.Source
	if s.SessionFile != "" {
		source = signin.New(signin.Options{Path: s.SessionFile, HTTP: c.HTTP(), Log: log})
		o.Credentials, o.HTTP = source, c.HTTP()
		if c, err = client.New(o); err != nil {
			return nil, err
		}
	}
	l := &link{client: c, source: source, clock: watch, stopping: make(chan struct{}), profile: profile, log: log, known: make(chan struct{})}
	l.reporter = reporter.New(outbox, c, reporter.Options{Drain: linkDrain, Greet: l.begin, Register: l.introduce, Log: log, Registerer: reg})
	return l, nil
}

// register tells the service of the bridge and its cameras.
func (l *link) register(ctx context.Context) error {
	err := l.client.Register(ctx, l.profile())
	if err == nil {
		l.registers.Store(true)
	}
	return err
}

// introduce registers because the service does not know a camera. A service that has never taken a registration, and has no endpoint for
// one, will not know the camera later either: then the error is a refusal.
func (l *link) introduce(ctx context.Context) error {
	err := l.register(ctx)
	var other *client.TransientError
	portal := errors.As(err, &other) && other.Code/100 == 2
	if err == nil || portal || l.registers.Load() || !noRegistration(err) {
		return err
	}
	return &client.RefusedError{Code: http.StatusNotFound, Reason: vms.ReasonEndpoint, Message: "the service takes no registration: " + err.Error()}
}

// Problem says what keeps events from reaching the service, or "".
func (l *link) Problem() string {
	l.mu.Lock()
	trouble := l.trouble
	l.mu.Unlock()
	if problem := l.signIn(); problem != "" {
		return problem
	}
	if unauthorized := (*client.UnauthorizedError)(nil); errors.As(trouble, &unauthorized) {
		return l.refused()
	}
	if refused := (*client.RefusedError)(nil); errors.As(trouble, &refused) {
		return "the service refuses the bridge: " + refused.Message
	}
	if trouble != nil {
		return "the bridge is not registered with the service yet, events wait in the outbox: see the log"
	}
	switch s := l.reporter.Status(); s.State {
	case reporter.Unauthorized:
		return l.refused()
	case reporter.Forbidden:
		return "the bridge's token may not report some events: see the log"
	case reporter.Waiting:
		return "the service does not take events at the moment; they wait in the outbox"
	}
	return ""
}

// signIn says what is wrong with the bridge's sign-in at the service, "" for nothing.
func (l *link) signIn() string {
	var unauthorized *client.UnauthorizedError
	if l.source != nil && errors.As(l.source.Trouble(), &unauthorized) {
		return unauthorized.Error()
	}
	return ""
}

// refused says what to do when the service does not let the bridge in.
func (l *link) refused() string {
	if l.source != nil {
		return refusesSignIn
	}
	return refusesToken
}

// SignedIn says whether the service let the bridge in when it was asked last.
func (l *link) SignedIn() bool {
	problem := l.Problem()
	return problem != refusesToken && problem != refusesSignIn && l.signIn() == ""
}

// Words for the state of the tunnel.
const (
	tunnelUp          = "up"
	tunnelDown        = "down"
	tunnelUnsupported = "unsupported" // by the service
	tunnelOff         = "off"         // by the configuration
)

// Tunnel says how the tunnel is, and what keeps it from standing, "" for nothing that a person could help.
func (l *link) Tunnel() (state, problem string) {
	if l.tunnel == nil {
		return tunnelOff, ""
	}
	if l.tunnel.Up() {
		return tunnelUp, ""
	}
	err := l.tunnel.Trouble()
	if status := (*tunnel.StatusError)(nil); errors.As(err, &status) && status.Unsupported() {
		return tunnelUnsupported, ""
	} else if err != nil {
		return tunnelDown, "the service cannot ask for stills through the tunnel, which does not stand: see the log"
	}
	return tunnelDown, ""
}

// Run keeps the registration and the tunnel fresh and reports, until ctx is done.
func (l *link) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, func() { close(l.stopping) })()
	g.Go(panics.Caught(func() error { return l.reporter.Run(ctx) }))
	g.Go(panics.Caught(func() error { return l.refresh(ctx) }))
	if l.tunnel != nil {
		g.Go(panics.Caught(func() error {
			if !l.waitKnown(ctx) {
				return ctx.Err()
			}
			return l.tunnel.Run(ctx)
		}))
	}
	return g.Wait()
}

// waitKnown waits until the service knows the bridge; false: ctx is done.
func (l *link) waitKnown(ctx context.Context) bool {
	select {
	case <-l.known:
		return true
	case <-ctx.Done():
		return false
	}
}

// begin comes before the first report: the service must know the bridge, and the bridge the time.
func (l *link) begin(ctx context.Context) error {
	if !isClosed(l.known) {
		if err := l.greet(ctx); err != nil {
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

// greet is the first registration: the reporter asks for it until the service has answered that it knows the bridge, or that it needs no
// registration.
func (l *link) greet(ctx context.Context) error {
	err := l.register(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempts++
	switch {
	case err == nil:
		l.log.Info("registered with the service", "attempts", l.attempts)
	case noRegistration(err):
		l.log.Info("the service takes no registration; images are not forwarded", "error", err)
	case ctx.Err() != nil:
		return err
	default:
		if l.trouble == nil || l.trouble.Error() != err.Error() || time.Since(l.saidAt) >= registerSay {
			l.log.Warn("register with the service; events wait in the outbox", "error", err, "attempts", l.attempts)
			l.saidAt = time.Now()
		}
		l.trouble = err
		return err
	}
	l.trouble = nil
	close(l.known)
	return nil
}

func (l *link) refresh(ctx context.Context) error {
	if !l.waitKnown(ctx) {
		return ctx.Err()
	}
	for {
		sleep(ctx, registerEvery)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := l.register(ctx); err != nil && !noRegistration(err) && ctx.Err() == nil {
			l.log.Warn("register with the service again", "error", err)
		}
	}
}

// settle waits a moment for the last events, the ends of what was going on, to reach a service that takes events now. What
// does not make it stays in the outbox.
func (l *link) settle(outbox *journal.Journal) {
	if l.clock.State().Source == clock.Waiting {
		return // nothing is to leave
	}
	deadline := time.Now().Add(linkDrain)
	for time.Now().Before(deadline) && l.Problem() == "" {
		if s, err := outbox.OutboxStats(); err != nil || s.Waiting == 0 {
			return
		}
		time.Sleep(linkDrain / 100)
	}
}

// noRegistration tells a service that has no such endpoint, as those of others have none: they answer in their own form, or with what
// their framework says of a path that it does not know, or with the same page for every path. A proxy or a portal before a service that
// has one may say the same; then the service is told of the bridge a minute later, or as it asks for it, by not knowing a camera.
func noRegistration(err error) bool {
	if refused := (*client.RefusedError)(nil); errors.As(err, &refused) {
		return client.Unsupported(err) || refused.Reason == "" || refused.Code == http.StatusNotFound || refused.Code == http.StatusMethodNotAllowed
	}
	if forbidden := (*client.ForbiddenError)(nil); errors.As(err, &forbidden) {
		return forbidden.Reason == ""
	}
	if other := (*client.TransientError)(nil); errors.As(err, &other) {
		return other.Code/100 == 2 || other.Code == http.StatusNotFound || other.Code == http.StatusMethodNotAllowed || other.Code == http.StatusNotImplemented
	}
	return false
}

// serviceToken gives the bridge's token; one in a file is read again when the service refuses it, so that it can be
// renewed without a restart.
func serviceToken(s configs.Service) func() (string, error) {
	if s.TokenFile != "" {
		return client.TokenFile(s.TokenFile)
	}
	return client.Token(s.Token.Reveal())
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
