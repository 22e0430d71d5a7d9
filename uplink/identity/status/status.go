package status

import (
	"fmt"
	"slices"
)

// The codes of §7, with the document's meaning, and those that every HTTP server needs beside them.
const (
	OK         = 200
	Accepted   = 202 // the sign-up, reset and resend calls
	LoggedOut  = 204
	Arguments  = 400 // unexpected or unidentifiable arguments
	Invalid    = 401 // invalid credentials, token or session
	Suspended  = 402 // the account is suspended
	Forbidden  = 403 // the caller lacks the privileges
	NotFound   = 404 // account, user or item
	Unverified = 406 // unverifiable information, invalid reset token, wrong code, wrong current password
	Conflict   = 409 // address taken, or active already
	Disabled   = 412 // user disabled or locked, or a code cannot be sent that way
	Factor     = 415 // unsupported two-factor type
	Locked     = 429 // locked by wrong codes; also too many requests
	Inactive   = 460 // the account is inactive
	Pending    = 461 // the account is pending
	UserState  = 462 // the user is pending

	Method   = 405
	TooLarge = 413
	Fault    = 500
	Away     = 503
)

// Error is an answer that is not a success. Its Message is for a person and holds nothing secret. A value is not changed
// once made, so that one can be shared.
type Error struct {
	Code    int
	Reason  string // one word for programs, such as "InvalidCredentials"
	Message string
	Data    any // more for programs, nil for nothing
}

// New makes an answer.
func New(code int, reason, message string) *Error {
	return &Error{Code: code, Reason: reason, Message: message}
}

// Badf is a 400 whose message says which argument is wrong and why.
func Badf(format string, a ...any) *Error {
	return New(Arguments, "InvalidArgument", fmt.Sprintf(format, a...))
}

// Error is the text for a log.
func (e *Error) Error() string { return fmt.Sprintf("%d %s: %s", e.Code, e.Reason, e.Message) }

// Held collects the answers whose conditions hold. The zero value is ready.
type Held []*Error

// Add notes e if its condition holds. Of several with one code the first is kept.
func (h *Held) Add(condition bool, e *Error) {
	if condition && !slices.ContainsFunc(*h, func(o *Error) bool { return o.Code == e.Code }) {
		*h = append(*h, e)
	}
}

// Last is the held answer that comes last in order, as §7 wants it, or nil. A held code that the order does not name is
// never given: the document's list of an endpoint is closed.
func (h Held) Last(order ...int) error {
	for _, code := range slices.Backward(order) {
		for _, e := range h {
			if e.Code == code {
				return e
			}
		}
	}
	return nil
}
