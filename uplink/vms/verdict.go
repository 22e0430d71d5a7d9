package vms

import (
	"fmt"
	"net/http"
	"time"
)

// RefusedError says that the service looked at the request and will never take it as it is. Asking
// again is of no use.
type RefusedError struct {
	Code    int
	Reason  string // one of Reason…, "" if the service gave none
	Message string // the service's own words
}

func (e *RefusedError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("refused by the service (%d): %s", e.Code, e.Message)
	}
	return fmt.Sprintf("refused by the service (%d %s): %s", e.Code, e.Reason, e.Message)
}

// UnknownActor says whether the service does not know the actor of the event; it may once the
// bridge has registered.
func (e *RefusedError) UnknownActor() bool {
	return e.Code == http.StatusNotFound && e.Reason != ReasonEndpoint
}

// UnauthorizedError says that the token is missing, unreadable or refused. It says nothing about
// the request.
type UnauthorizedError struct {
	Message string
	Hint    string // what to do; "" for making a token
}

func (e *UnauthorizedError) Error() string {
	hint := e.Hint
	if hint == "" {
		hint = "make a token with: vmscloud token create"
	}
	return "not let in by the service: " + e.Message + " (" + hint + ")"
}

// ForbiddenError says that the token is good but may not do this. That is mended at the service or
// in the configuration, seldom in the request.
type ForbiddenError struct{ Reason, Message string }

func (e *ForbiddenError) Error() string {
	return fmt.Sprintf("not permitted by the service (403 %s): %s", e.Reason, e.Message)
}

// TransientError says that asking again later may help: no connection, a busy or broken service, or
// an answer that is not the service's at all.
type TransientError struct {
	Code int // of the answer, 0 if there was none
	// RetryAfter is how long the service asks to wait, 0 if it does not say.
	RetryAfter time.Duration
	// Own is true if the service itself answered, about this request: another one may fare better.
	Own bool
	Err error
}

func (e *TransientError) Error() string { return e.Err.Error() }
func (e *TransientError) Unwrap() error { return e.Err }
