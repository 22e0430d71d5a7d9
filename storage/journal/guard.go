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
	j.dbMu.RLock()
	db := j.db
	if db == nil {
		j.dbMu.RUnlock()
		return ErrClosed
	}
	err := guarded(func() error { return db.View(f) })
	j.dbMu.RUnlock()
	if j.repair(db, err) {
		return j.viewAgain(f)
	}
	return explain(err)
}

// viewAgain is view after a repair, which it does not try twice.
func (j *Journal) viewAgain(f func(*bolt.Tx) error) error {
	j.dbMu.RLock()
	defer j.dbMu.RUnlock()
	if j.db == nil {
		return ErrClosed
	}
	return explain(guarded(func() error { return j.db.View(f) }))
}

// update runs f in a transaction and commits it durably. The caller holds commitMu.
func (j *Journal) update(f func(*bolt.Tx) error) error {
	j.dbMu.RLock()
	db := j.db
	if db == nil {
		j.dbMu.RUnlock()
		return ErrClosed
	}
	err := guarded(func() error { return db.Update(f) })
	j.dbMu.RUnlock()
	if j.repair(db, err) {
		j.dbMu.RLock()
		defer j.dbMu.RUnlock()
		if j.db == nil {
			return ErrClosed
		}
		err = guarded(func() error { return j.db.Update(f) })
	}
	return explain(err)
}
