package signin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"vmsbridge/uplink/vms"
)

// Status codes of signing in that HTTP does not have.
const (
	codeInactive    = 460 // the account
	codePending     = 461 // the account
	codeUserPending = 462
)

// Refusal is an answer of the service that is not what was asked for. Its text says what to do
// about it.
type Refusal struct {
	Code int
	step step
	said bool // the body is one of the token endpoint's (RFC 6749 §5.2), not anyone's
	// Wait is how long the service asks to wait, 0 if it does not say.
	Wait time.Duration
}

// step is what was asked.
type step int

const (
	stepPassword step = iota // authenticate
	stepCode                 // two_factor_authenticate
	stepOpen                 // authorize
	stepToken                // the token endpoint
)

// Error says what the code means at this step, and what to do.
func (r *Refusal) Error() string {
	text := r.words()
	if r.Wait > 0 {
		text += ", after " + r.Wait.String()
	}
	return fmt.Sprintf("%s (%d)", text, r.Code)
}

func (r *Refusal) words() string {
	switch r.Code {
	case http.StatusUnauthorized:
		switch r.step {
		case stepPassword:
			return "the address or the password is wrong, or an API key is missing: try again"
		case stepToken:
			return "the sign-in is over or was revoked: sign in again with vmsbridge login"
		}
		return "the sign-in took too long or the code has expired: sign in again from the start"
	case http.StatusPaymentRequired:
		return "the account is suspended: settle that with the service, then sign in again"
	case http.StatusForbidden:
		return "the service does not permit this: check the API key, and what the user may do"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return "there is no sign-in at this address: check service.url"
	case http.StatusNotAcceptable:
		return "the code is wrong: try again"
	case http.StatusPreconditionFailed:
		if r.step == stepCode {
			return "the code cannot be sent that way: choose the other one"
		}
		return "the user is disabled, or locked after wrong codes: an administrator of the account or the service's " +
			"support must let it in again"
	case http.StatusUnsupportedMediaType:
		return "the service does not send codes that way: choose the other one"
	case http.StatusTooManyRequests:
		if r.step == stepOpen && r.Wait == 0 {
			return "the account is locked after too many wrong codes: only the service's support can unlock it"
		}
		return "there were too many attempts: try again later"
	case codeInactive:
		return "the account is inactive: ask whoever runs it"
	case codePending:
		return "the account waits to be activated: follow the link in the mail that came when it was made"
	case codeUserPending:
		return "the user has no password yet: follow the link in the mail that came when it was made"
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return "this address leads to another one, which is not followed: put that into service.url"
	case http.StatusProxyAuthRequired:
		return "the proxy wants a user and a password: put them into the address in HTTPS_PROXY"
	case http.StatusBadRequest:
		if r.step == stepToken {
			return "what was kept of the sign-in is no longer good: sign in again with vmsbridge login"
		}
		return "the service does not understand the request: is service.url right?"
	}
	return "the service cannot do that now: try again later"
}

// Final says that asking again for the same brings the same: a person must do something first.
func (r *Refusal) Final() bool {
	switch {
	case r.Code == http.StatusRequestTimeout, r.Code == http.StatusProxyAuthRequired,
		r.Code == http.StatusTooManyRequests && (r.step != stepOpen || r.Wait > 0):
		return false
	}
	return r.Code/100 == 4
}

// forEver says that nothing but a new sign-in will do: the service itself says so, and not what
// stands before it.
func (r *Refusal) forEver() bool {
	return r.said && (r.Code == http.StatusBadRequest || r.Code == http.StatusUnauthorized)
}

// maxWait bounds how long a service can make a sign-in wait.
const maxWait = time.Hour

// refusal reads an answer that is not 2xx.
func refusal(at step, res *http.Response, body []byte) *Refusal {
	var e map[string]json.RawMessage
	return &Refusal{Code: res.StatusCode, step: at, said: json.Unmarshal(body, &e) == nil && e != nil,
		Wait: vms.RetryAfter(res.Header, time.Now(), maxWait)}
}
