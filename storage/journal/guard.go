package journal

import (
	"fmt"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"
)

// guarded runs f and turns a panic, also the fault of reading a mapped page that the device cannot deliver, into a
// *damagedError. bbolt trusts its pages; a flipped bit shows as a failed assertion, a wild slice or a fault in here.
func guarded(f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		if v := recover(); v != nil {
			err = &damagedError{fmt.Sprintf("%v", v)}
		}
	}()
	return f()
}

// view runs f in a read transaction. Nothing of the transaction may be kept after f.
func (j *Journal) view(f func(*bolt.Tx) error) error {
	return j.transact(func(db *bolt.DB) error { return db.View(f) })
}

// update runs f in a transaction and commits it durably. The caller holds commitMu.
func (j *Journal) update(f func(*bolt.Tx) error) error {
	return j.transact(func(db *bolt.DB) error { return db.Update(f) })
}

// transact runs a transaction, and once more if the file had to be repaired for it.
func (j *Journal) transact(run func(*bolt.DB) error) error {
	db, err := j.hold()
	if err != nil {
		return err
	}
	err = guarded(func() error { return run(db) })
	j.dbMu.RUnlock()
	again, err := j.repair(db, err)
	if !again {
		return explain(err)
	}
	if db, err = j.hold(); err != nil {
		return err
	}
	defer j.dbMu.RUnlock()
	return explain(guarded(func() error { return run(db) }))
}
