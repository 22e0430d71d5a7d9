package vms

import "time"

// Queued is an event that waits to be handed over to a sink. The event is as it is now, not as it
// was when it began to wait.
type Queued struct {
	Event    Event
	Place    uint64    // in the order of what waits: older ones have lower places, and no place is given twice
	Revision uint64    // tells it from a later form of the same event; 0 where the queue has none
	Since    time.Time // when it began to wait
	Began    bool      // it had no end when it was put; of a cursor only
	Newest   bool      // no later entry of the same event follows; of a cursor only
	Untrue   bool      // its times and its id are not right yet, as the clock was not: it comes again when they are
}

// Lag is how far a sink is behind.
type Lag struct {
	Waiting int       // what it has not dealt with
	Oldest  time.Time // since when the first of them waits; zero if none does
	Skipped uint64    // what was given up since the sink was first configured
}
