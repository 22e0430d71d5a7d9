// Package presence knows which bridges are there, and tells in events when one is not: nobody else
// can, when a box loses its power or its link. It stands between what hears of bridges (tunnels,
// registrations, reports) and the book of events (cmd/vmscloud's ledger).
//
//	w := presence.New(presence.Options{Book: book, Cameras: registry.Attached, Log: log})
//	err := w.Load(registry.Bridges())        // what the book says, and that all have a moment to come back
//	go w.Run(ctx)
//	w.TunnelStands(bridge); w.TunnelEnded(bridge, last); w.Heard(bridge, statuses, fresh); w.Left(bridge)
//	away := w.Away(device)                   // as the events say it
//
// # What it writes
//
// A bridge has status events of its own, spans that meet: online, bridgeOffline, online. When a
// bridge is away, from the moment in which it was last heard of:
//
//   - the status spans of its cameras end, and each camera has a bridgeOffline span;
//   - other spans of its making that go on end too, marked as cut off (Cut): the bridge's later
//     report takes their place.
//
// When it is back, its own bridgeOffline span ends where its next online span begins. The span of a
// camera ends where that begins which the bridge reports (Admit). A bridge that ran on all the
// time, its link was cut, has nothing to report: its cameras are as they were, and for each the
// service begins a span that goes on from there. The bridge's span from before the outage, cut off,
// keeps its end; when the bridge tells how it really ended, that ends the span that goes on.
//
// All is in the book, so that it holds over a restart of the service.
package presence
