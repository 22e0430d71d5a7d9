package file

import (
	"errors"

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
	if _, err := f.hold(); err != nil {
		return explain(err)
	}
	f.dbMu.RUnlock()
	if f.doubtful.Load() != nil && f.commitMu.TryLock() {
		// db may lack the last change, which the log has. A disk that fails on shows what db has.
		_ = f.redeem()
		f.commitMu.Unlock()
	}
	return f.transact(func(db *bolt.DB) error { return db.View(read) })
}

// update runs write in a transaction and makes that durable; record is what it wrote, as the log
// takes it. A file that its name does not lead to any more gives guard.ErrGone: nothing in it is
// kept. The caller holds commitMu.
func (f *File) update(write func(*bolt.Tx) error, record func() []byte) error {
	// db must have what was promised before, or the change is made of less: it takes the change
	// that was answered last, and where it cannot, it is opened anew.
	if err := f.redeem(); err != nil {
		return explain(err)
	}
	if _, err := f.hold(); err != nil {
		return err
	}
	f.dbMu.RUnlock()
	if err := f.redeem(); err != nil {
		return explain(err)
	}
	store := func(db *bolt.DB) error { return f.store(db, write, record) }
	err := f.transact(store)
	if errors.Is(err, ErrFull) && f.newPages.Load() > 0 && f.doubtful.Load() == nil {
		// What changes have freed since the last checkpoint can be used again after the next one.
		err = f.transact(func(db *bolt.DB) error {
			if f.redo == nil {
				return err
			}
			if err := f.checkpoint(); err != nil {
				return err
			}
			return store(db)
		})
	}
	return err
}

// store is update on db. With a log, one flush of that is what the caller waits for, and as a rule
// the file takes the change while others are answered already; see settle.
func (f *File) store(db *bolt.DB, write func(*bolt.Tx) error, record func() []byte) error {
	if err := f.prepare(); err != nil {
		return err
	}
	tx, err := db.Begin(true)
	if err != nil {
		return err
	}
	defer func() {
		if tx != nil {
			_ = tx.Rollback()
		}
	}()
	if err := write(tx); err != nil {
		return err
	}
	if err := guard.InPlace(f.file, f.path); err != nil { // dbMu is held
		return err
	}
	var logged error
	pending := len(f.pending)
	if f.redo == nil {
		if err := f.endSegments(); err != nil {
			return err
		}
	} else {
		r := record()
		if len(r) == 0 {
			return nil
		}
		f.pending = append(f.pending, r...)
		if logged = f.redo.append(r); logged == nil && !f.opts.Careful && f.roomy(tx) {
			f.lateMu.Lock()
			f.late, tx = tx, nil
			f.lateMu.Unlock()
			return nil
		}
	}
	done := tx
	tx = nil // a Commit that fails ends it too
	shows, err := f.commitPages(done)
	switch {
	case f.redo == nil:
	case shows && logged == nil:
		err = nil
	case logged == nil:
		f.redo.back()
		f.pending = f.pending[:pending]
	case err != nil:
		f.pending = f.pending[:pending]
	case err == nil:
		err = f.checkpoint() // what the log has no room for, or did not take
	}
	return err
}

// commitPages ends a transaction. shows is guard.Shows, after which the next change begins with
// opening the file anew.
func (f *File) commitPages(tx *bolt.Tx) (shows bool, err error) {
	id, db := tx.ID(), tx.DB()
	err = tx.Commit()
	f.newPages.Add(pageBytes(tx))
	if err == nil {
		return true, nil
	}
	if shows = guard.Shows(db, id); shows {
		f.doubt(err)
	}
	return shows, err
}

// prepare sees to it that the file can take a change while a checkpoint keeps its pages in place.
func (f *File) prepare() error {
	if f.redo == nil {
		return nil
	}
	info, err := f.file.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() > mapBytes/4*3:
		return f.stand()
	case f.due(8):
		return f.checkpoint()
	}
	return nil
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
