// Package form is the form of the journal's file: the buckets, their keys and their values, as
// format.md describes them. It turns events and what belongs to them into bytes and back, checks
// the bytes, and reads and writes no file; everything else of the journal stands on it. What the
// database is and does with the bytes is none of its business.
//
//	ev, value, err := form.SealChecked(ev)              // refuses what could not be found again
//	head, err := form.ReadHead(value)                   // checks the checksum, and leaves the JSON alone
//	for _, l := range head.Listings(ev.ID) { … }        // the places in the indexes
//	var e form.Entry
//	err = e.Read(value)                                 // of the outbox
package form
