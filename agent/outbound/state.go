package outbound

import (
	"errors"
	"time"

	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

// longPause is one that is too long to be the bridge's own: the service asked for it.
const longPause = time.Minute

const (
	refusesToken = "the service refuses the bridge's token: put a new one into service.token_file"
	// twins is for a box that was made from a copy of another one's disk.
	twins = "another bridge that runs has this one's id and token, and each takes the other's place at the service: " +
		"give one of them a bridge.id and a token of its own"
	refusesSignIn = "the service refuses the bridge's sign-in: sign in again with vmsbridge login"
)

// Problem says what keeps events from reaching the service, or "".
func (l *Service) Problem() string {
	l.mu.Lock()
	trouble, refused, twin := l.trouble, l.said.Refused, l.said.Twins
	l.mu.Unlock()
	if problem := l.signIn(); problem != "" {
		return problem
	}
	if unauthorized := (*vms.UnauthorizedError)(nil); errors.As(trouble, &unauthorized) {
		return l.refused()
	}
	if no := (*vms.RefusedError)(nil); errors.As(trouble, &no) {
		return "the service refuses the bridge: " + no.Message
	}
	if no := (*vms.ForbiddenError)(nil); errors.As(trouble, &no) && no.Reason == vms.ReasonLimit {
		return "the service refuses the bridge: " + no.Message
	}
	if trouble != nil {
		return "the bridge is not registered with the service yet, events wait in the outbox: see the log"
	}
	if twin {
		return twins
	}
	if len(refused) > 0 {
		return "the service does not take the camera " + refused[0]
	}
	switch s := l.delivery.Status(); s.State {
	case delivery.Unauthorized:
		return l.refused()
	case delivery.Forbidden:
		return "the bridge's token may not report some events: see the log"
	case delivery.Waiting:
		if time.Until(s.NextTry) > longPause {
			return "the service asks not to be asked before " + s.NextTry.UTC().Format(time.RFC3339) +
				"; events wait in the outbox"
		}
		return "the service does not take events at the moment; they wait in the outbox"
	}
	return ""
}

// signIn says what is wrong with the bridge's sign-in at the service, "" for nothing.
func (l *Service) signIn() string {
	var unauthorized *vms.UnauthorizedError
	if l.source != nil && errors.As(l.source.Trouble(), &unauthorized) {
		return unauthorized.Error()
	}
	return ""
}

// refused says what to do when the service does not let the bridge in.
func (l *Service) refused() string {
	if l.source != nil {
		return refusesSignIn
	}
	return refusesToken
}

// SignedIn says whether the service let the bridge in when it was asked last.
func (l *Service) SignedIn() bool {
	problem := l.Problem()
	return problem != refusesToken && problem != refusesSignIn && l.signIn() == ""
}

// Words for the state of the tunnel.
const (
	TunnelUp          = "up"
	tunnelDown        = "down"
	tunnelUnsupported = "unsupported" // by the service
	tunnelOff         = "off"         // by the configuration
)

// Tunnel says how the tunnel is, and what keeps it from standing, "" for nothing that a person
// could help.
func (l *Service) Tunnel() (state, problem string) {
	if l.tunnel == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.said.AddressUnasked != "" {
			return tunnelOff, "the service gets no stills, since it does not ask at this bridge's address (" +
				l.said.AddressUnasked + "): set service.tunnel: true"
		}
		return tunnelOff, ""
	}
	if l.tunnel.Up() {
		return TunnelUp, ""
	}
	err := l.tunnel.Trouble()
	if status := (*tunnel.StatusError)(nil); errors.As(err, &status) && status.Unsupported() {
		return tunnelUnsupported, ""
	} else if err != nil {
		return tunnelDown, "the service cannot ask for stills through the tunnel, which does not stand: see the log"
	}
	return tunnelDown, ""
}

// Why is what the service, or the way to it, answered last when something was wrong; "" for
// nothing. It holds no secret.
func (l *Service) Why() string {
	l.mu.Lock()
	trouble := l.trouble
	l.mu.Unlock()
	if trouble != nil {
		return trouble.Error()
	}
	return l.delivery.Status().Trouble
}
