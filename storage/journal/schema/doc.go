// Package schema is what the journal's file holds: the buckets, their keys and their values, as
// format.md describes them, and the rows that hang together: an event stands in the indexes where
// its head says, an entry of the outbox has its id's number beside it, an event has two entries in
// the sequence of changes at most. Every change of a file is made through a Tx, so that nobody
// writes one row and forgets another. It turns events into bytes and back, and opens, reads and
// commits no file; everything else of the journal stands on it.
//
//	ev, value, err := schema.SealChecked(ev)   // refuses what could not be found again
//	head, err := schema.ReadHead(value)        // checks the checksum, and leaves the JSON alone
//	err = db.Update(func(tx *bolt.Tx) error {
//		t := schema.New(tx, nil)
//		sequence, err := t.Enqueue(ev, time.Now())                               // it waits now,
//		err = errors.Join(err, t.Store(ev, schema.WithSequence(value, sequence))) // and is listed
//		return errors.Join(err, t.AddEvents(t.Stored))
//	})
package schema
