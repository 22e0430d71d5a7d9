package api

import (
	"fmt"
	"slices"
)

// The interface's codes with their meaning, and those that every HTTP server needs beside them.
const (
	CodeOK         = 200
	CodeAccepted   = 202 // the sign-up, reset and resend calls
	CodeLoggedOut  = 204
	CodeArguments  = 400 // unexpected or unidentifiable arguments
	CodeInvalid    = 401 // invalid credentials, token or session
	CodeSuspended  = 402 // the account is suspended
	CodeForbidden  = 403 // the caller lacks the privileges
	CodeNotFound   = 404 // account, user or item
	CodeUnverified = 406 // unverifiable information, invalid reset token, wrong code, wrong current password
	CodeConflict   = 409 // address taken, or active already
	CodeDisabled   = 412 // user disabled or locked, or a code cannot be sent that way
	CodeFactor     = 415 // unsupported two-factor type
	CodeLocked     = 429 // locked by wrong codes; also too many requests
	CodeInactive   = 460 // the account is inactive
	CodePending    = 461 // the account is pending
	CodeUserState  = 462 // the user is pending

	CodeMethod   = 405
	CodeTooLarge = 413
	CodeFault    = 500
	CodeAway     = 503
)

// Error is an answer that is not a success. Its Message is for a person and holds nothing secret. A
// value is not changed once made, so that one can be shared.
type Error struct {
	Code    int
	Reason  string // one word for programs, such as "InvalidCredentials"
	Message string
	Data    any // more for programs, nil for nothing
}

// NewError makes an answer.
func NewError(code int, reason, message string) *Error {
	return &Error{Code: code, Reason: reason, Message: message}
}

// Badf is a 400 whose message says which argument is wrong and why.
func Badf(format string, a ...any) *Error {
	return NewError(CodeArguments, "InvalidArgument", fmt.Sprintf(format, a...))
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

// Last is the held answer that comes last in order, which is that of an endpoint, or nil. A held
// code that the order does not name is never given: the list of an endpoint is closed. Without an
// order it is the answer that was added last.
func (h Held) Last(order ...int) error {
	if len(order) == 0 && len(h) > 0 {
		return h[len(h)-1]
	}
	for _, code := range slices.Backward(order) {
		for _, e := range h {
			if e.Code == code {
				return e
			}
		}
	}
	return nil
}
