package journal

import (
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/guard"
)

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
	err = guard.Run(func() error { return run(db) })
	j.dbMu.RUnlock()
	again, err := j.repair(db, err)
	if !again {
		return explain(err)
	}
	if db, err = j.hold(); err != nil {
		return err
	}
	defer j.dbMu.RUnlock()
	return explain(guard.Run(func() error { return run(db) }))
}
