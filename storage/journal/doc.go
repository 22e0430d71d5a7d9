// Package journal keeps the bridge's events and the outbox of those that the service does not yet
// have, in one bbolt file and, while that is open, a log beside it. It stands between what makes
// events (the agent, the local API) and what reports them (uplink/delivery); the servers list
// events from it. The service side keeps its events in a journal too, without an outbox.
//
// What it promises:
//
//  1. When Put returns nil, the event is on the device, and so is its entry in the outbox: both are
//     one transaction.
//  2. The same id is one event: Put replaces.
//  3. An entry leaves the outbox only by AckAll, Park or Drop, and by the first two only if the
//     event was not put again in the meantime.
//  4. Each Cursor learns of every event that is put, in order, at its own pace, and of nothing
//     twice that it has passed.
//  5. A damaged file opens: it is set aside, what can be read is carried into a new file, and
//     Damage tells what happened. Where that cannot be done, for the disk is full, say, it is done
//     as soon as it can.
//
// Events recorded under an untrue clock are put right by Settle, some at a time (provisional.go,
// settle.go).
//
// Its rooms, each of which knows only those below it:
//
//	journal   what is put, listed (a plan takes the narrowest index, finds its groups, and merges them in
//	          the order of every list: plan.go, stream.go), reported, followed, pruned
//	file      the file, whatever damages it: opened, checked, recovered, written together, made compact
//	schema    bytes and rows, as schema/format.md has them
//
// storage/guard is bbolt, and what it makes of damage; storage/boltfile is bbolt's pages, read
// without bbolt.
//
// An example:
//
//	j, err := journal.Open("/var/lib/vmsbridge/journal.db", journal.Options{Log: log})
//	if err != nil { return err }
//	defer j.Close()
//	if err := j.Put(ev, true); err != nil { return err }       // durable now
//	entries, err := j.Peek(10)                                 // oldest first
//	_, err = j.AckAll(entries)                                 // the service has them
package journal
