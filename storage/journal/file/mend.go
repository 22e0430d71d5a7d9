package file

import (
	"errors"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
)

// broken is a journal whose file turned out to be damaged while it was open, and could not be
// replaced: the disk was full, say.
type broken struct {
	err  error     // what every call gives until it can; nil: it is not broken
	next time.Time // not tried again before
}

// mendPause is how long it is not tried again, and mendShare how many times as long as the last try
// took, if that is more: each reads all of the file that can be read.
const mendPause, mendShare = time.Second, 4

// hold gives the database with dbMu held for reading. A broken journal is mended first if it can
// be.
func (f *File) hold() (*bolt.DB, error) {
	for {
		f.dbMu.RLock()
		if f.db != nil {
			f.settle()
			return f.db, nil
		}
		f.dbMu.RUnlock()
		if err := f.mend(); err != nil {
			return nil, err
		}
	}
}

// mend tries anew to open a broken journal.
func (f *File) mend() error {
	f.dbMu.Lock()
	defer f.dbMu.Unlock()
	switch {
	case f.db != nil:
		return nil
	case f.broken.err == nil || f.lock == nil:
		return ErrClosed
	case time.Now().Before(f.broken.next):
		return f.broken.err
	}
	began := time.Now()
	if err := f.openFile(false); err != nil {
		f.breaksLocked(err, time.Since(began))
		return f.broken.err
	}
	f.broken = broken{}
	f.log.Info("the damaged journal could be recovered after all; it takes events again")
	return nil
}

// breaksLocked notes why the journal cannot be open, and how long it took to find out. The caller
// holds dbMu.
func (f *File) breaksLocked(err error, took time.Duration) {
	first := f.broken.err == nil
	f.broken = broken{explain(err), time.Now().Add(max(mendPause, mendShare*took))}
	if first {
		f.log.Error("the journal is damaged and cannot be recovered yet; it takes no events until it can", "error", err)
	}
}

// repair handles an error of a transaction on db that speaks of damage: the file is read through
// and, if something is wrong with it, replaced. It says whether the caller should try again, on
// what then is f.db, and if not, which error is the caller's. The caller holds no lock on dbMu; all
// transactions wait meanwhile.
func (f *File) repair(db *bolt.DB, err error) (again bool, _ error) {
	damaged, ok := errors.AsType[*guard.DamageError](err)
	if !ok {
		return false, err
	}
	f.dbMu.Lock()
	defer f.dbMu.Unlock()
	switch {
	case f.db == db:
	case f.db == nil && f.broken.err != nil:
		return false, f.broken.err
	default:
		return f.db != nil, err // somebody else repaired it, or Close came first
	}
	// db may have stayed locked where it panicked, so it is left behind; closing its file ends its
	// hold on the path.
	f.leave(damaged)
	began := time.Now()
	openErr := f.openDB(false)
	if openErr == nil {
		// Nothing wrong on disk: a fault of memory, or of ours.
		f.log.Error("journal broke off a transaction, but its file is sound", "error", damaged)
		return false, err
	}
	if _, ok := errors.AsType[*guard.DamageError](openErr); ok {
		openErr = f.replaceDamaged(damaged)
	}
	if openErr != nil {
		f.breaksLocked(openErr, time.Since(began))
		return false, openErr
	}
	return true, nil
}
