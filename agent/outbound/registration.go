package outbound

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"vmsbridge/uplink/client"
	"vmsbridge/uplink/vms"
)

// The service is told of the bridge at start, and again in case it has lost its memory.
const (
	registerEvery = time.Minute
	// registerSay bounds the log lines about a registration that fails again and again for one
	// reason.
	registerSay = 5 * time.Minute
)

// register tells the service of the bridge and its cameras.
func (l *Service) register(ctx context.Context) error {
	if err := l.book.take(ctx); err != nil { // an older mark must not come behind a newer one
		return err
	}
	defer l.book.leave()
	mark, err := l.book.mark()
	if err != nil {
		l.log.Warn("how far the journal is reported is not known; the service is not asked what it has", "error", err)
	}
	said, err := l.client.RegisterAt(ctx, l.profile(), mark)
	if err != nil {
		return err
	}
	l.registers.Store(true)
	l.hear()
	l.registered.Inc()
	if said == nil || mark == nil || l.client.Said().Twins { // then it is the other's mark as well
		return nil
	}
	switch lost, err := l.book.compare(*said); {
	case err != nil:
		l.log.Warn("what the service says of its events cannot be kept", "error", err)
	case lost:
		l.log.Warn("the service has lost events that it had taken, or went back to an older copy: the bridge reports "+
			"them again", "from_place", said.Low)
	}
	return nil
}

// hear tells the log, once for each reason, what the service does not do of what the registration
// asks of it.
func (l *Service) hear() {
	said := l.client.Said()
	l.mu.Lock()
	was := l.said
	l.said = said
	l.mu.Unlock()
	if why := said.AddressUnasked; why != "" && why != was.AddressUnasked && l.tunnel == nil {
		l.log.Warn("the service gets no stills from here: it does not ask at this bridge's address", "reason", why,
			"hint", "set service.tunnel: true")
	}
	if said.Twins && !was.Twins {
		l.log.Warn(twins)
	}
	if len(said.Refused) > 0 && !slices.Equal(said.Refused, was.Refused) {
		l.log.Warn("the service does not take some cameras; their events wait in the outbox", "cameras", said.Refused)
	}
}

// introduce registers because the service does not know a camera. A service that has never taken a
// registration, and has no endpoint for one, will not know the camera later either: then the error
// is a refusal.
func (l *Service) introduce(ctx context.Context) error {
	err := l.register(ctx)
	var other *vms.TransientError
	portal := errors.As(err, &other) && other.Code/100 == 2
	if err == nil || portal || l.registers.Load() || !noRegistration(err) {
		return err
	}
	return &vms.RefusedError{Code: http.StatusNotFound, Reason: vms.ReasonEndpoint,
		Message: "the service takes no registration: " + err.Error()}
}

// registerFirst is the first registration: delivery asks for it until the service has answered that
// it knows the bridge, or that it needs no registration.
func (l *Service) registerFirst(ctx context.Context) error {
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

func (l *Service) refresh(ctx context.Context) error {
	if !l.waitKnown(ctx) {
		return ctx.Err()
	}
	tick := time.NewTicker(registerEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		case <-l.again:
		}
		if err := l.register(ctx); err != nil && !noRegistration(err) && ctx.Err() == nil {
			l.log.Warn("register with the service again", "error", err)
		}
	}
}

// Again has the service told of the bridge soon: of cameras that came or went, and, when it lost
// the tunnel, of whether the bridge is still there. It never blocks.
func (l *Service) Again() {
	select {
	case l.again <- struct{}{}:
	default:
	}
}

// goodbye tells the service that the bridge stops, so that a restart is no outage. It costs no time
// of its own: what is under way is drained meanwhile. Without it the service finds out by itself,
// only sooner.
func (l *Service) goodbye(ctx context.Context) error {
	<-ctx.Done()
	if !l.registers.Load() {
		return ctx.Err()
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := l.client.Leave(limited, l.profile().ID); err != nil {
		l.log.Debug("the service was not told of the stop", "error", err)
	}
	return ctx.Err()
}

// noRegistration tells a service that has no such endpoint, as those of others have none: they
// answer in their own form, or with what their framework says of a path that it does not know, or
// with the same page for every path. A proxy or a portal before a service that has one may say the
// same; then the service is told of the bridge a minute later, or as it asks for it, by not knowing
// a camera.
func noRegistration(err error) bool {
	if refused := (*vms.RefusedError)(nil); errors.As(err, &refused) {
		return client.Unsupported(err) || refused.Reason == "" || refused.Code == http.StatusNotFound ||
			refused.Code == http.StatusMethodNotAllowed
	}
	if forbidden := (*vms.ForbiddenError)(nil); errors.As(err, &forbidden) {
		return forbidden.Reason == ""
	}
	if other := (*vms.TransientError)(nil); errors.As(err, &other) {
		return other.Code/100 == 2 || other.Code == http.StatusNotFound || other.Code == http.StatusMethodNotAllowed ||
			other.Code == http.StatusNotImplemented
	}
	return false
}
