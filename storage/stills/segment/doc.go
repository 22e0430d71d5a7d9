// Package segment is one file of the ring: its bytes, as format.md describes them, and how it is
// made, read, written, flushed and sealed, and what can be read of it when it is damaged. It knows
// the file system, and no other segment: which there are, in what order, and which goes is the
// ring's, above it.
//
//	file, w, err := segment.Begin(vfs.OS, dir, segment.NewBlock(7, segment.Quiet, 16<<20, now))
//	at, err := w.Put(w.Encode(nil, header, camera, jpeg)) // a Writer: one record behind the other
//	w.End(index)                                            // it is full
//	f := w.BeginFlush()
//	f.Run()                                                 // to the device, and sealed
//
//	// its index, or else its records, or what is wrong with it
//	found, err := segment.NewReader(vfs.OS, dir).Load(entry, 7)
//	h, err := handles.Take(&found.File)                           // open files, for questions
//	jpeg, err := found.ReadStill(h.File, key, entry)
//
// A Draft is the index of a segment that is being written, a Listing that of a full one. Times are
// nanoseconds since 1970-01-01 UTC.
package segment
