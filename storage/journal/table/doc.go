// Package table is the rows of the journal's file and what hangs together among them: an event
// stands in the indexes where its head says, an entry of the outbox has its id's number beside it,
// an event has two entries in the sequence of changes at most. Every change of a file is made
// through a Tx, here, so that no room above writes one row and forgets another. Which bytes a row
// has says form; when a transaction begins and is committed, vault and salvage.
//
//	err := db.Update(func(tx *bolt.Tx) error {
//		t := table.New(tx, nil)
//		sequence, err := t.Enqueue(ev, time.Now())                              // it waits now,
//		err = errors.Join(err, t.Store(ev, form.WithSequence(value, sequence))) // and is listed
//		return errors.Join(err, t.AddEvents(t.Stored))
//	})
package table
