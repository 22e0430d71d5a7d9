// Package reporter drains the outbox into the service. It stands between storage/journal, which holds what is still to be
// reported, and uplink/client, which calls the service and says what an answer means.
//
// An entry leaves the outbox only when the service has the event (Ack) or will never take it (Park, with the service's
// reason). The events of one actor go one after the other, in the order of the outbox; several actors go at once. Two
// things go before that order: if what waits takes longer than Options.Overtake, as after an outage, what is new goes ahead
// of it, each of both in its own order (split.go); and an event that fails for Options.StuckAfter is stepped over. A request
// whose answer was lost may still be at work at the service while the event goes again: the same event then arrives twice, its
// beginning perhaps after its end, which the service must not take back.
//
// What happens to the rest depends on whose fault a failure is:
//
//   - The service's (no connection, 429, 502, 503, 504, an answer that is not its own): everything waits, from 1 s
//     doubling to 15 s with jitter, or as long as Retry-After says. Then one event goes ahead; if it is taken, all follow. While the
//     service cannot be reached at all, something new is tried soon in any case, so that it does not wait for a link that is back.
//
//   - The token's (401): everything waits for half a minute to a minute. Nothing is parked.
//
//   - Perhaps the event's (403, 500): its actor waits, the others go on. Such an event is parked only after it has failed
//     for an hour while others were taken; until then the fault may be the service's. If none else was sent in that time, its
//     actor's next event is tried in between, so that one bad event never holds up a bridge with one camera. An event for which the
//     service seemed to be away three times, while it took others, counts as such a one.
//
//   - The event's (400, 404, 409, 413, 422): it is parked at once. An unknown actor (404) gets one more try after
//     Options.Register, if that is set.
//
//     r := reporter.New(journal, client, reporter.Options{Log: log})
//     err := r.Run(ctx) // until ctx is done
package reporter
