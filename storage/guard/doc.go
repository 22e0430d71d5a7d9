// Package guard runs bbolt so that a damaged file is an error and not the end of the process. bbolt
// trusts its pages; what it trips over comes out of here as a *DamageError, which the rooms above
// answer by making a new file of what can be read.
//
// It also knows the names beside a file: its lock, its successor while that is made, what was set
// aside.
//
//	db, file, err := guard.Open(path, &bolt.Options{})
//	err = guard.Run(func() error { return db.View(func(tx *bolt.Tx) error { … guard.Bucket(tx, name) … }) })
//	if _, damaged := errors.AsType[*guard.DamageError](err); damaged { guard.Abandon(file) }
package guard
