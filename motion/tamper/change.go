package tamper

import "time"

// Kind says what happened to a span.
type Kind uint8

// The kinds of changes.
const (
	Began Kind = iota + 1
	Ended
)

// String returns "began" or "ended".
func (k Kind) String() string {
	switch k {
	case Began:
		return "began"
	case Ended:
		return "ended"
	}
	return "unknown"
}

// Reason says what was done to the view.
type Reason uint8

// The reasons. None is never in a Change.
const (
	None Reason = iota
	Covered
	Blinded
	Defocused
	Turned
	Frozen
	reasons // how many there are
)

// String returns the reason as it stands in events: "covered", "blinded", "defocused", "turned" or
// "frozen".
func (r Reason) String() string {
	return [...]string{"none", "covered", "blinded", "defocused", "turned", "frozen", "unknown"}[min(r, reasons)]
}

// Change is the begin or the end of a span. At most one span is open at a time: what began as
// covered and goes on as turned is one.
type Change struct {
	Kind   Kind
	Reason Reason
	// Start and Last are the times of the first and the last picture that was not as before. At
	// Began, Start lies some seconds back.
	Start, Last time.Time
	// Accepted marks an end because the new view lasted so long that it is the normal one now.
	Accepted bool
}
