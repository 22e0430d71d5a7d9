package home

import (
	"time"

	"vmsbridge/uplink/vms"
)

// Change is an event that a home has to learn of. It is an alias of its fields, so that the journal's changes are of the same
// type, though neither package knows the other.
type Change = struct {
	Place  uint64    // in the order of all changes; no place is given twice
	Event  vms.Event // as it is now
	Began  bool      // it had no end when it was put
	Newest bool      // no later change of the event follows
	Since  time.Time // when it was put
	Untrue bool      // its times and its id are not right yet: the clock was not; it comes again when they are
}

// Lag is how far a home is behind.
type Lag = struct {
	Waiting int       // changes that it has not dealt with
	Oldest  time.Time // when the first of them was put; zero if there is none
	Skipped uint64    // changes that were given up since the home was first configured
}

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
