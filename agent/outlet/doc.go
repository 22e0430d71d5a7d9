// Package outlet stands between those who make events, which must not wait for a disk, and the journal, which makes them durable:
//
//	pipelines, the agent → Outlet → storage/journal → uplink/reporter
//
// What the journal refuses waits here, in order, and where the disk is full, old stills make room for events.
//
//	out := outlet.New(outlet.Options{To: journal, Report: true, Ongoing: true, Log: log, Registerer: reg})
//	go out.Run(ctx)
//	out.Put(ev) // returns at once
package outlet
