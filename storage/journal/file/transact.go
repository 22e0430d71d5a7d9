package file

import (
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
)

// Begin begins a read transaction, which keeps the pages in place until it ends: it is for a copy
// of the whole file. A compaction waits for its end.
func (f *File) Begin() (tx *bolt.Tx, err error) {
	db, err := f.hold()
	if err != nil {
		return nil, err
	}
	defer f.dbMu.RUnlock()
	err = guard.Run(func() error { tx, err = db.Begin(false); return err })
	return tx, explain(err)
}

// View runs read in a read transaction, which waits for no change. Nothing of the transaction may
// be kept after it. read may be run a second time, if the file had to be repaired for it.
func (f *File) View(read func(*bolt.Tx) error) error {
	return f.transact(func(db *bolt.DB) error { return db.View(read) })
}

// update runs write in a transaction and commits it durably. A file that its name does not lead to
// any more gives guard.ErrGone: nothing in it is kept. The caller holds commitMu.
func (f *File) update(write func(*bolt.Tx) error) error {
	return f.transact(func(db *bolt.DB) error {
		if err := db.Update(write); err != nil {
			return err
		}
		return guard.InPlace(f.file, f.path) // dbMu is held
	})
}

// transact runs a transaction, and once more if the file had to be repaired for it.
func (f *File) transact(run func(*bolt.DB) error) error {
	db, err := f.hold()
	if err != nil {
		return err
	}
	err = guard.Run(func() error { return run(db) })
	f.dbMu.RUnlock()
	again, err := f.repair(db, err)
	if !again {
		return explain(err)
	}
	if db, err = f.hold(); err != nil {
		return err
	}
	defer f.dbMu.RUnlock()
	return explain(guard.Run(func() error { return run(db) }))
}
