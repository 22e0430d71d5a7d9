// Package file keeps the journal's file, whatever damages it and whenever the power goes. It opens
// the file under a lock and checks it, makes a new one of a damaged one, also while it is
// open, lets callers share durable transactions (Do), and writes the file anew
// without its free pages beside all of that (Compact). The journal above it says what the
// transactions do; the rows are schema's. Held is the same file while no program has it open: for
// fsck.
//
// A check changes nothing: it reads the pages, the checksums, and whether the indexes, the outbox
// and the sequence of changes agree with the events. A new file is made of the segments, which hold
// all rows once more (segments.go, rebuild.go). Where those do not have all, it is made of the rows
// that can be read anywhere, put in order (remains.go).
//
// A change is durable once it is in the log beside the file (redo.go), by one flush; the file takes
// it after that (late.go), and is flushed at checkpoints (checkpoint.go).
//
//	f, err := file.Open(path, file.Options{Log: log})
//	if err != nil { return err }
//	defer f.Close()
//	err = f.Do(func(t *schema.Tx) error { return t.Store(ev, value) })   // durable now
//	err = f.View(func(tx *bolt.Tx) error { … guard.Bucket(tx, schema.Events) … })
//	report, err := f.Check()
package file
