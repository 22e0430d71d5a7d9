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

// update runs write in a transaction and makes that durable; write returns what it wrote, as the
// log takes it. A file that its name does not lead to any more gives guard.ErrGone: nothing in it
// is kept. The caller holds commitMu.
func (f *File) update(write func(*bolt.Tx) ([]byte, error)) error {
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
	store := func(db *bolt.DB) error { return f.store(db, write) }
	err := f.transact(store)
	// Where there is no room, what changes have freed since the last checkpoint can be used again
	// after the next one; and then the segments make room.
	for _, make := range []func() (bool, error){f.freePages, f.freeSegments} {
		if !errors.Is(err, ErrFull) || f.doubtful.Load() != nil {
			break
		}
		full := err
		err = f.transact(func(db *bolt.DB) error {
			if made, err := make(); err != nil {
				return err
			} else if !made {
				return full
			}
			return store(db)
		})
	}
	return err
}

// freePages makes a checkpoint, if changes have freed pages.
func (f *File) freePages() (made bool, err error) {
	if f.redo == nil || f.newPages.Load() == 0 {
		return false, nil
	}
	return true, f.checkpoint()
}

// store is update on db. With a log, one flush of that is what the caller waits for, and as a rule
// the file takes the change while others are answered already; see settle.
func (f *File) store(db *bolt.DB, write func(*bolt.Tx) ([]byte, error)) error {
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
	r, err := write(tx)
	if err != nil {
		return err
	}
	if err := guard.InPlace(f.file, f.path); err != nil { // dbMu is held
		return err
	}
	if len(r) == 0 {
		return nil
	}
	done := tx
	if f.redo == nil {
		if err := f.nameSegments(tx); err != nil {
			return err
		}
		tx = nil // a Commit that fails ends it too
		if _, err := f.commitPages(done); err != nil {
			return err
		}
		f.pending = append(f.pending, r...)
		f.writeAlone()
		return nil
	}
	pending := len(f.pending)
	f.pending = append(f.pending, r...)
	logged := f.redo.append(r)
	if logged == nil && !f.opts.Careful && f.roomy(tx) {
		f.lateMu.Lock()
		f.late, tx = tx, nil
		f.lateMu.Unlock()
		return nil
	}
	tx = nil
	shows, err := f.commitPages(done)
	switch {
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
