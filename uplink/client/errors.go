package client

import (
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

// Unsupported says whether err means that the service does not have the endpoint asked for, as
// other services do not have that for registering a bridge.
func Unsupported(err error) bool {
	var refused *vms.RefusedError
	if errors.As(err, &refused) {
		return refused.Reason == vms.ReasonEndpoint || refused.Reason == vms.ReasonMethod
	}
	return false
}

// classify turns an answer into an error, nil for a 2xx. It is the one place that decides what may
// be asked again:
//
//   - 401: the token. 403: the permission.
//   - 413: never again, whoever says it; what is too large stays so.
//   - 400, 404, 405, 409, 415, 422 with a JSON object: the service's own verdict. The same codes
//     with anything else come from whatever stands between (a proxy, a portal, a TLS port asked in
//     plain HTTP) and may pass.
//   - all else: later.
func classify(base string, a answer, err error) error {
	if err != nil || a.status/100 == 2 {
		return nil
	}
	message, reason, own := verdict(a.body)
	switch a.status {
	case http.StatusUnauthorized:
		if !own {
			message = "the token was refused"
		}
		return &vms.UnauthorizedError{Message: message}
	case http.StatusForbidden:
		if own {
			return &vms.ForbiddenError{Reason: reason, Message: message}
		}
	case http.StatusRequestEntityTooLarge:
		if !own {
			message = "the body is too large"
		}
		return &vms.RefusedError{Code: a.status, Reason: reason, Message: message}
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusConflict,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		if own {
			return &vms.RefusedError{Code: a.status, Reason: reason, Message: message}
		}
	}
	t := &vms.TransientError{Code: a.status, RetryAfter: vms.RetryAfter(a.header, time.Now(), maxRetryAfter), Own: own}
	switch {
	case a.status/100 == 3:
		t.Err = fmt.Errorf(
			"the service's address answers with a redirect to %s: put the right address into service.url",
			host(base, a.header.Get("Location")))
	case a.status == http.StatusProxyAuthRequired:
		t.Err = errors.New("the proxy wants a user and a password (407): put them into the address in HTTPS_PROXY or " +
			"HTTP_PROXY")
	case own:
		t.Err = fmt.Errorf("the service answers %d: %s", a.status, message)
	default:
		t.Err = fmt.Errorf("the answer is not the service's: %d with %s; is service.url right, and nothing in between?",
			a.status, describe(a))
	}
	return t
}

// clip bounds foreign text that goes into errors, the journal and pages.
func clip(s string) string {
	s = strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s), "?")
	if len(s) > 500 {
		s = strings.ToValidUTF8(s[:500], "") + "…"
	}
	return s
}

// describe says what kind of body came, without its content.
func describe(a answer) string {
	media, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if err != nil {
		media = "a body of no known type"
	}
	return fmt.Sprintf("%s, %d bytes", clip(media), len(a.body))
}

// host is the scheme and host of a redirect's target; the rest of an address may hold secrets.
func host(base, location string) string {
	b, err := url.Parse(base)
	if err != nil {
		return "another address"
	}
	u, err := b.Parse(location)
	if err != nil {
		return "another address"
	}
	return clip(u.Scheme + "://" + u.Host)
}

// maxRetryAfter bounds how long a service can make us wait, so that one wrong header cannot silence
// a bridge for a week.
const maxRetryAfter = 15 * time.Minute

// transportError drops the address from net/http's error, since errors are shown and the address is
// known, and adds what to look at.
func transportError(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	hint := ""
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case strings.Contains(err.Error(), http.StatusText(http.StatusProxyAuthRequired)):
		hint = " (the proxy wants a user and a password: put them into the address in HTTPS_PROXY)"
	case strings.Contains(err.Error(), "proxyconnect "):
		hint = " (is the proxy in HTTPS_PROXY or HTTP_PROXY right?)"
	case errors.As(err, &dns):
		hint = " (is the name in service.url right, and does this machine reach its DNS server?)"
	case errors.Is(err, delivery.ErrNotPinned):
		hint = " (was it renewed? then compare and change the setting)"
	case strings.Contains(err.Error(), "x509:"):
		hint = " (is the clock right? for a certificate of your own set service.ca_file or service.tls_fingerprint)"
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		hint = " (service.url says https, but plain http answers there)"
	case errors.As(err, &timeout) && timeout.Timeout():
		hint = " (no answer in time)"
	}
	return &vms.TransientError{Err: fmt.Errorf("call the service: %w%s", err, hint)}
}
