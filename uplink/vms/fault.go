package vms

import (
	"fmt"
	"net/http"
	"strings"
)

// Reasons of an Error, the ones that this project's servers give.
const (
	ReasonMissing            = "missingRequiredArgument"
	ReasonUnexpected         = "unexpectedArgument"
	ReasonJSON               = "invalidJSON"
	ReasonValue              = "wrongArgumentValue"
	ReasonUnauthenticated    = "unauthenticated"
	ReasonPermission         = "invalidPermission"
	ReasonEndpoint           = "endpointNotFound"
	ReasonResource           = "resourceNotFound"
	ReasonMethod             = "methodNotSupported"
	ReasonExists             = "alreadyExists"
	ReasonTooLarge           = "contentTooLarge"
	ReasonContent            = "contentNotSupported"
	ReasonTooMany            = "tooManyRequests"
	ReasonLimit              = "limitReached" // of what an account may have
	ReasonUnexpectedError    = "unexpectedError"
	ReasonDeviceUnavailable  = "deviceUnavailable"
	ReasonServiceUnavailable = "serviceUnavailable"
	ReasonDeadline           = "deadlineExpired"
	ReasonOutOfRetention     = "outOfRetention"
	ReasonNeverConnected     = "neverConnected"
	detailInfo               = "errorInfo"
	detailResource           = "resourceInfo"
	detailBadRequest         = "badRequest"
	domainV3                 = "apiv3"
)

// statuses are the words that go with an HTTP code. 413 and 416 have none in the public table;
// their words are ours.
var statuses = map[int]string{
	http.StatusBadRequest:                   "invalidArgument",
	http.StatusUnauthorized:                 "unauthenticated",
	http.StatusForbidden:                    "permissionDenied",
	http.StatusNotFound:                     "notFound",
	http.StatusMethodNotAllowed:             "methodNotSupported",
	http.StatusNotAcceptable:                "acceptNotSupported",
	http.StatusConflict:                     "conflict",
	http.StatusRequestEntityTooLarge:        "contentTooLarge",
	http.StatusUnsupportedMediaType:         "mediaTypeNotSupported",
	http.StatusRequestedRangeNotSatisfiable: "outOfRange",
	http.StatusTooManyRequests:              "tooManyRequests",
	http.StatusInternalServerError:          "internal",
	http.StatusServiceUnavailable:           "unavailable",
	http.StatusGatewayTimeout:               "deadlineExceeded",
}

// Error is the error body of /api/v3.0. A store behind the server may return one to decide the
// answer itself; every other error becomes a 500 without its text.
type Error struct {
	Code    int      `json:"code"`
	Status  string   `json:"status"`
	Message string   `json:"message"`
	Details []Detail `json:"details"`
}

// Detail is one object of an Error's details. The first one is always of type errorInfo and carries
// the reason.
type Detail struct {
	Type               string            `json:"type"`
	Reason             string            `json:"reason,omitempty"`
	Domain             string            `json:"domain,omitempty"`
	Metadata           map[string]string `json:"metadata,omitempty"`
	Resource           string            `json:"resource,omitempty"`
	IDs                []string          `json:"ids,omitempty"`
	ArgumentViolations []Violation       `json:"argumentViolations,omitempty"`
}

// Violation says what is wrong with one argument.
type Violation struct {
	ArgumentName string `json:"argumentName"`
	Description  string `json:"description"`
}

// NewError makes the body for an HTTP code with a reason and a message for a person.
func NewError(code int, reason, message string) *Error {
	status, ok := statuses[code]
	if !ok {
		status = statuses[http.StatusInternalServerError]
	}
	return &Error{code, status, message, []Detail{{Type: detailInfo, Reason: reason, Domain: domainV3}}}
}

// NotFound is a 404 that names the resource ("cameras", "events") and the ids asked for. message ""
// is the usual one.
func NotFound(resource, message string, ids ...string) *Error {
	if message == "" {
		message = "The resource was not found"
	}
	e := NewError(http.StatusNotFound, ReasonResource, message)
	e.Details = append(e.Details, Detail{Type: detailResource, Resource: resource, IDs: ids})
	return e
}

// BadRequest is the 400 of a list of problems, all of them in the message; nil if there are none.
// The reason is that of the first problem, so list the gravest kind first.
func BadRequest(problems []Problem) *Error {
	if len(problems) == 0 {
		return nil
	}
	var unexpected, missing, rest []string
	var violations []Violation
	for _, p := range problems {
		switch p.Reason {
		case ReasonUnexpected:
			unexpected = append(unexpected, p.Argument)
		case ReasonMissing:
			missing = append(missing, p.Argument)
		case ReasonJSON:
			rest = append(rest, "Invalid JSON: "+p.Text)
		default:
			rest = append(rest, fmt.Sprintf("Invalid Argument: %s: %s", p.Argument, p.Text))
			violations = append(violations, Violation{p.Argument, p.Text})
		}
	}
	var parts []string
	if unexpected != nil {
		parts = append(parts, "Unexpected argument: "+strings.Join(unexpected, ", "))
	}
	if missing != nil {
		parts = append(parts, "Missing required arguments: "+strings.Join(missing, ", "))
	}
	e := NewError(http.StatusBadRequest, problems[0].Reason, strings.Join(append(parts, rest...), "; "))
	if violations != nil {
		e.Details = append(e.Details, Detail{Type: detailBadRequest, ArgumentViolations: violations})
	}
	return e
}

// Reason is that of the first detail, "" if there is none.
func (e *Error) Reason() string {
	if len(e.Details) == 0 {
		return ""
	}
	return e.Details[0].Reason
}

// Error is the message with the code and the reason.
func (e *Error) Error() string {
	if r := e.Reason(); r != "" {
		return fmt.Sprintf("%s (%d %s)", e.Message, e.Code, r)
	}
	return fmt.Sprintf("%s (%d %s)", e.Message, e.Code, e.Status)
}
