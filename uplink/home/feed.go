package home

import (
	"time"

	"vmsbridge/uplink/vms"
)

// Change is an event that a home has to learn of.
type Change = vms.Queued

// Lag is how far a home is behind.
type Lag = vms.Lag

// Feed is where a home reads: a cursor of storage/journal is one. Its methods are safe for concurrent use.
type Feed interface {
	// Read is up to n changes behind a place, in order; 0 is where Advance came to. None says that there are no more.
	Read(after uint64, n int) ([]Change, error)
	// Advance notes durably that everything up to a place was dealt with.
	Advance(place uint64) error
	// Now is the clock of Change.Since, which need not be the machine's.
	Now() time.Time
	// Changed has a value after something was put, and at first.
	Changed() <-chan struct{}
	// Trim gives up what was put before a time, and the oldest of what is more than most.
	Trim(most int, before time.Time) (skipped int, err error)
	// Lag is how far the home is behind, from a place on if it is done with everything up to that; 0 is where Advance came to.
	Lag(after uint64) (Lag, error)
}

// Caps bound what a home may be behind.
type Caps struct {
	Events int           // changes; 0: any number
	Age    time.Duration // 0: any
}
