// Package home is what the homes of events beside the service have in common: what they read, how far they are, and what is
// said of them. It stands between the journal, whose cursors are feeds, and the homes themselves, uplink/mqtt and
// uplink/webhook. Each home reads at its own pace, so that a dead one delays nobody; what it is behind by is bounded by its
// caps, and what falls out of them is counted and said.
//
// A home takes a feed and keeps a Ledger of what became of each change:
//
//	ledger := home.NewLedger("webhook", "alarm", feed, home.Caps{Events: 100_000, Age: 72 * time.Hour}, reg, log)
//	go ledger.Keep(ctx)                         // holds the backlog within the caps
//	changes, err := feed.Read(0, 64)            // those not dealt with, oldest first
//	…                                           // hand them over
//	err = feed.Advance(changes[n].Place)        // durable: never read again
//	ledger.Sent(1)
//
// # Which forms of an event a home gets
//
// A change names an event that was put into the journal; the event that comes with it is as it is now. An event has at most
// two changes that wait: the latest in which it went on, and the latest in which it had ended. A home that is up to date so
// sees a span begin and end. One that lags may leave out every change that is not the Newest of its event, and then hands
// each event over once, in its last form, at the place in the order where it got that form.
package home
