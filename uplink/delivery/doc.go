// Package delivery takes events from where they wait to a sink: the service, an MQTT broker, a
// webhook, a file. It stands between storage/journal, whose outbox and cursors hold what waits, and
// the sinks, which hand events over and judge the answers.
//
// An event leaves its store only when the sink has it (AckAll) or will never take it (Park, with
// the reason). Each store divides its events into lanes, as a rule by actor. Those of one lane go
// one after the other, in order; several lanes go at once. Two things go before that order, unless
// Options.Strict says otherwise: if what waits takes longer than Options.Overtake, as after an
// outage, what is new goes ahead of it, each of both in its own order (split.go); and an event that
// fails for Options.StuckAfter is stepped over. A request whose answer was lost may still be at
// work at the sink while the event goes again: the same event then arrives twice, its beginning
// perhaps after its end, which the sink must not take back.
//
// What happens to the rest depends on whose fault a failure is, which the sink says by the Kind of
// its Verdict:
//
//   - OfSink (no connection, 429, 502, 503, 504, an answer that is not its own): everything waits,
//     from FirstPause doubling to MaxPause with jitter, or as long as the sink asks for. Then one
//     event goes ahead; if it is taken, all follow. While the sink cannot be reached at all,
//     something new is tried soon in any case, so that it does not wait for a link that is back.
//
//   - OfToken (401): everything waits for AuthPause at least. Nothing is parked.
//
//   - OfEvent (403, 500): perhaps the event's: its lane waits, the others go on. Such an event is
//     parked only after it has failed for StuckAfter while others were taken; until then the fault
//     may be the sink's. If none else was sent in that time, the lane's next event is tried in
//     between, so that one bad event never holds up a bridge with one camera. An event for which
//     the sink seemed to be away three times, while it took others, counts as such a one.
//
//   - Refused (400, 404, 409, 413, 422): it is parked at once.
//
// The service:
//
//	e := delivery.New(journal, &client.Sink{Service: c, Log: log}, delivery.Options{AtOnce: c.AtOnce, Log: log})
//	err := e.Run(ctx) // until ctx is done
package delivery
