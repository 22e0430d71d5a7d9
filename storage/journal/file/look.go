package file

import (
	"errors"
	"fmt"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
)

// look is the reading of a large file that Open has left to it, beside all other calls.
type look struct {
	once sync.Once
	stop chan struct{} // nil: nobody reads
	done chan struct{}
}

func (l *look) begin(run func(stop <-chan struct{})) {
	l.stop, l.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(l.done)
		run(l.stop)
	}()
}

// end waits for it. It may be called again.
func (l *look) end() {
	if l.stop == nil {
		return
	}
	l.once.Do(func() { close(l.stop) })
	<-l.done
}

var (
	errStopped = errors.New("the file is being closed")
	errMoved   = errors.New("the file has made way for another")
)

// lookThrough reads the whole file as Open does with a small one, and mends what is damaged. Where
// the file is replaced meanwhile it begins anew.
func (f *File) lookThrough(stop <-chan struct{}) {
	began := time.Now()
	for {
		db, report, err := f.readBeside(stop)
		switch {
		case errors.Is(err, errMoved):
			continue
		case errors.Is(err, errStopped), errors.Is(err, ErrClosed):
			return
		case err != nil:
			f.log.Warn("the journal, which is too large to be read at the start, could not be read through", "error",
				err)
			return
		case report.Clean():
			f.log.Info("the journal, which is too large to be read at the start, is sound", "bytes", report.Bytes,
				"took", time.Since(began).Round(time.Millisecond))
			return
		}
		f.replaceOpen(db, report.Problems[0])
		return
	}
}

// readBeside reads all of the file. It holds no lock meanwhile, but a transaction that keeps the
// pages in place.
func (f *File) readBeside(stop <-chan struct{}) (db *bolt.DB, r Report, err error) {
	f.commitMu.Lock()
	begun := sync.OnceFunc(f.commitMu.Unlock)
	defer begun()
	if db, err = f.hold(); err != nil {
		return nil, r, err
	}
	var tx *bolt.Tx
	err = guard.Run(func() (err error) { tx, err = db.Begin(false); return err })
	f.dbMu.RUnlock() // leave may have db unmapped, but for the transaction
	if err != nil {
		return db, r, explain(err)
	}
	err = guard.Run(func() error {
		defer func() { _ = tx.Rollback() }()
		waiting, parked := f.Tally() // of the transaction: nothing is committed before begun
		paused := time.Now()
		r, err = CheckOpen(tx, f.path, begun, func() error {
			select {
			case <-stop:
				return errStopped
			case <-time.After(time.Since(paused)): // as long as it has read
			}
			paused = time.Now()
			f.dbMu.RLock()
			defer f.dbMu.RUnlock()
			if f.db != db {
				return errMoved
			}
			return nil
		})
		if err == nil && r.Clean() {
			truly, parkedTruly := schema.CountQueues(tx)
			f.tally.correct(truly-waiting, parkedTruly-parked)
		}
		return err
	})
	if damaged, ok := errors.AsType[*guard.DamageError](err); ok {
		r.Problems, err = append(r.Problems, fmt.Sprint(damaged.Cause)), nil
	}
	return db, r, explain(err)
}

// replaceOpen replaces the open file db, which was found damaged. All transactions wait meanwhile.
func (f *File) replaceOpen(db *bolt.DB, cause string) {
	f.dbMu.Lock()
	defer f.dbMu.Unlock()
	if f.db != db {
		return // somebody else was first
	}
	damaged := guard.Damaged(cause)
	f.leave(damaged)
	began := time.Now()
	if err := f.replaceDamaged(damaged); err != nil {
		f.breaksLocked(err, time.Since(began))
	}
}
