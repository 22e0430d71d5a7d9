// Package vault keeps the journal's file: whoever changes it, whatever damages it, and whenever the
// power goes. It opens the file under a lock and looks at it (audit), makes a new one of a damaged
// one or of one of an older form (salvage), also while it is open, lets callers share durable
// transactions (Do), and writes the file anew without its free pages beside all of that (Compact).
// The journal above it says what the transactions do; the rows are table's. Held is the same file
// while no program has it open: for fsck.
//
//	f, err := vault.Open(path, vault.Options{Log: log})
//	if err != nil { return err }
//	defer f.Close()
//	err = f.Do(func(t *table.Tx) error { return t.Store(ev, value) })   // durable now
//	err = f.View(func(tx *bolt.Tx) error { … guard.Bucket(tx, form.Events) … })
package vault
