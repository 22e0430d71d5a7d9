package file

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/storage/vfs"
)

// While a log stands beside the file, the file itself is not flushed but for checkpoints. A
// checkpoint is a state of the file that is on the device and stays there: bbolt writes over no
// page that an open read transaction can see, but for the meta pages, so the transaction of the
// last checkpoint stays open, and the log's mark has its meta page. What came later is in the log.

const (
	// logRoom is what must be free on the disk for a log to be made, and for a change to be
	// answered before the file has it.
	logRoom = 64 << 20
	// checkpointBytes is after how many bytes of new pages, which cannot be used again until then,
	// or of records, a checkpoint is due.
	checkpointBytes = 3 << 20
	attachPause     = time.Minute
)

// mapBytes is address space, not memory: 16 GiB, or 512 MiB where addresses have 32 bits. bbolt
// cannot map more of the file while a transaction is open, and the checkpoint's always is; so there
// is no log for a file that comes near to that.
const mapBytes = 1 << (24 + 5*(bits.UintSize/32))

// attach begins to keep a log, where there is room for one. Nobody else has f.db yet, or commitMu
// and dbMu are held.
func (f *File) attach() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	room, err := vfs.OS.Free(filepath.Dir(f.path))
	if err != nil || room < logRoom || info.Size() > mapBytes/2 ||
		f.opts.MaxBytes > 0 && f.opts.MaxBytes < 8*redoBytes {
		return err
	}
	r, err := createRedo(f.path + LogSuffix)
	if err != nil {
		return err
	}
	err = guard.Run(func() error {
		tx, err := f.db.Begin(true)
		if err != nil {
			return err
		}
		format := guard.Bucket(tx, schema.Format)
		if err := errors.Join(format.Put(schema.KeyVersion, []byte{schema.VersionLogged}),
			format.Put(schema.KeyLog, schema.SequenceKey(r.id))); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		_, err = f.commitPages(tx)
		return err
	})
	if err == nil {
		f.redo = r
		err = f.checkpoint() // until its end the file stands alone, and is flushed with each change
	}
	if err == nil {
		f.follow(r)
		return nil
	}
	f.forsake()
	_ = r.wipe() // redeem does it otherwise
	r.close()
	return errors.Join(err, guard.Remove(r.path))
}

// attachAgain begins a log where there is none, if it is not long since that was tried. commitMu
// and dbMu are held, or nobody else has f.db yet.
func (f *File) attachAgain() {
	if f.redo != nil || f.namesUnsure || time.Now().Before(f.attachNext) {
		return
	}
	f.attachNext = time.Now().Add(attachPause)
	if err := f.attach(); err != nil {
		f.log.Warn("the journal is kept without a log beside it, which is slower", "error", err)
	}
}

// follow takes r for the log of the open file.
func (f *File) follow(r *redo) { f.redo, f.db.NoSync, f.db.NoGrowSync = r, true, true }

// forsake ends what follow and checkpoints began.
func (f *File) forsake() {
	f.steady.Store(nil)
	for _, tx := range f.held {
		_ = tx.Rollback()
	}
	f.held, f.redo = nil, nil
	if f.db != nil {
		f.db.NoSync, f.db.NoGrowSync = false, false
	}
}

// detach makes the file stand alone, all of it on the device, and takes the log away. commitMu is
// held, no checkpoint under way, and nothing late. mark is put into the format bucket.
func (f *File) detach(mark ...[]byte) error {
	f.db.NoSync, f.db.NoGrowSync = false, false
	err := guard.Run(func() error {
		return f.db.Update(func(tx *bolt.Tx) error {
			if err := f.takeActivity(tx); err != nil {
				return err
			}
			format := guard.Bucket(tx, schema.Format)
			err := errors.Join(format.Put(schema.KeyVersion, []byte{schema.Version}), format.Delete(schema.KeyLog))
			if f.redo != nil {
				err = errors.Join(err, f.endBlocks(tx))
			}
			for _, key := range mark {
				err = errors.Join(err, format.Put(key, []byte{1}))
			}
			return err
		})
	})
	r := f.redo
	if r == nil {
		return err
	}
	if err == nil {
		err = r.wipe()
	}
	if err != nil {
		f.follow(r)
		f.doubt(err)
		return err
	}
	f.forsake()
	r.close()
	_ = guard.Remove(r.path) // it says nothing any more
	return nil
}

// stand is detach beside others. commitMu is held, and dbMu for reading.
func (f *File) stand() error {
	f.pointMu.Lock()
	defer f.pointMu.Unlock()
	if doubt := f.doubtful.Load(); doubt != nil {
		return *doubt
	}
	return f.detach()
}

// takeActivity writes into the file when events were last known to go on: the log's records of that
// go.
func (f *File) takeActivity(tx *bolt.Tx) error {
	if f.opts.Activity == nil {
		return nil
	}
	record := schema.ActivityRecord(f.opts.Activity())
	if f.redo != nil {
		f.pending = append(f.pending, record...)
	}
	return schema.Replay(tx, record)
}

// point is a checkpoint that was begun.
type point struct {
	tx    *bolt.Tx
	state boltfile.State
	epoch uint64
	rows  []byte // of the block
	block block
}

// checkpoint makes the file's present state one that a crash leaves. No change is under way or
// late, and dbMu is held or nobody else has f.db yet.
func (f *File) checkpoint() error {
	f.pointMu.Lock()
	defer f.pointMu.Unlock()
	if doubt := f.doubtful.Load(); doubt != nil {
		return *doubt // the state lacks what the log has
	}
	p, err := f.beginCheckpoint()
	if err == nil {
		err = f.endCheckpoint(p)
	}
	if err != nil {
		f.doubt(err)
	}
	return err
}

// beginCheckpoint takes down the state. From then on others may change the file.
func (f *File) beginCheckpoint() (p point, err error) {
	err = guard.Run(func() error {
		err := f.db.Update(func(tx *bolt.Tx) error {
			return errors.Join(f.takeActivity(tx), f.nameSegments(tx))
		})
		if err != nil {
			return err
		}
		p.tx, err = f.db.Begin(false)
		return err
	})
	if err != nil {
		return p, err
	}
	f.held = append(f.held, p.tx)
	f.newPages.Store(0)
	f.redo.next()
	p.epoch = f.redo.epoch
	p.rows, p.block = f.takePending()
	p.state, err = boltfile.StateOf(f.file, uint64(p.tx.ID()), f.db.Info().PageSize)
	return p, err
}

// endCheckpoint flushes it, notes it, and lets the one before go.
func (f *File) endCheckpoint(p point) error {
	if err := f.db.Sync(); err != nil {
		return err
	}
	if err := f.writeBlock(p.rows, p.block); err != nil {
		return err
	}
	if err := f.redo.setMark(p.state, f.db.Info().PageSize, p.epoch); err != nil {
		return err
	}
	f.steady.Store(nil)
	for _, tx := range f.held {
		if tx != p.tx {
			_ = tx.Rollback()
		}
	}
	f.held = []*bolt.Tx{p.tx}
	return nil
}

// checkpointBeside is checkpoint beside those who change the file, if one is due.
func (f *File) checkpointBeside() { f.pointBeside(false) }

// snapshotBeside is checkpointBeside of the next rows of a snapshot. It says whether there are
// more.
func (f *File) snapshotBeside() bool {
	f.pointBeside(true)
	f.commitMu.Lock()
	defer f.commitMu.Unlock()
	f.dbMu.RLock()
	defer f.dbMu.RUnlock()
	return f.snapshot != nil
}

func (f *File) pointBeside(copying bool) {
	f.commitMu.Lock()
	begun := f.commitMu.Unlock
	defer func() { begun() }()
	f.dbMu.RLock()
	defer f.dbMu.RUnlock()
	if f.db == nil || f.doubtful.Load() != nil {
		return
	}
	if f.redo == nil {
		if copying {
			f.writeAlone()
		}
		f.attachAgain()
		return
	}
	if !f.due(1) && (!copying || f.snapshot == nil) || !f.pointMu.TryLock() {
		return
	}
	defer f.pointMu.Unlock()
	if f.settle(); f.doubtful.Load() != nil {
		return
	}
	if err := f.lookAfterSegments(); err != nil {
		f.doubt(err)
		return
	}
	p, err := f.beginCheckpoint()
	if err == nil {
		begun()
		begun = func() {}
		err = f.endCheckpoint(p)
	}
	if err != nil {
		f.doubt(err)
	}
}

// due says whether so many times as much as asks for a checkpoint has changed since the last one.
func (f *File) due(times int64) bool {
	return f.newPages.Load() >= times*f.opts.CheckpointBytes ||
		times == 1 && (f.redo.at >= halfBytes*3/4 || len(f.pending) >= segmentBytes/2)
}

// doubt notes that the device may lack what the file shows: all that was promised is in the log, or
// was flushed before, and the next change begins with opening the file anew.
func (f *File) doubt(err error) {
	if f.doubtful.CompareAndSwap(nil, &err) {
		f.log.Error("the journal's file could not be flushed; nothing that was promised is lost", "error", err)
	}
}

// redeem opens a doubtful file anew, from its last checkpoint and the log if it has one, if the
// disk takes anything. commitMu is held.
func (f *File) redeem() error {
	if f.doubtful.Load() == nil {
		return nil // as a rule: nobody who reads is waited for
	}
	f.dbMu.Lock()
	defer f.dbMu.Unlock()
	doubt := f.doubtful.Load()
	if doubt == nil || f.db == nil {
		return nil
	}
	var err error
	if f.redo == nil { // it stands alone, if only the log that could not be begun continues nothing
		err = wipeRedo(f.path + LogSuffix)
	} else {
		err = errors.Join(f.redo.void(), f.db.Sync())
	}
	if err != nil {
		return err
	}
	f.leave(*doubt)
	_, damaged := errors.AsType[*guard.DamageError](*doubt)
	if err := f.openFile(!damaged); err != nil {
		f.breaksLocked(err, 0)
		return f.broken.err
	}
	return nil
}

// leave lets go of the open file as a crash would. dbMu is held. cause is why: a database that
// broke off is left as it is, since it may be locked for good.
func (f *File) leave(cause error) {
	_, damaged := errors.AsType[*guard.DamageError](cause)
	f.lateMu.Lock()
	late := f.late
	f.late = nil
	f.lateMu.Unlock()
	held := f.held
	if r := f.redo; r != nil {
		if damaged {
			f.held = nil
		}
		f.forsake()
		r.close()
	}
	f.closeSegments()
	f.doubtful.Store(nil)
	if late != nil && !damaged {
		damaged = guard.Run(late.Rollback) != nil
		late = nil
	}
	if damaged {
		guard.Abandon(f.file)
		go unmap(f.db, append(held, late))
	} else {
		_ = f.db.Close()
	}
	f.db, f.file = nil, nil
}

// unmap gives the addresses of a database back that broke off, and was let go: on 32 bits there are
// few. It waits for ever for a lock that the panic left held, and then they stay.
func unmap(db *bolt.DB, open []*bolt.Tx) {
	for _, tx := range open {
		if tx != nil {
			_ = guard.Run(tx.Rollback)
		}
	}
	_ = guard.Run(db.Close)
}

// findRedo finds the log that the file at path needs, and puts the file's meta pages back to its
// last checkpoint; nil if the file stands alone. Either is durable before the file is touched: what
// can be read may not be on the device, and its state before may be one that needs the very pages
// that are written next. A log of another file, which was put into this one's place, goes.
func (f *File) findRedo() (*redo, error) {
	r, err := openRedo(f.path+LogSuffix, true)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, vfs.OS.SyncDir(filepath.Dir(f.path)) // one that was removed does not come back
	case r.alone():
		defer r.close()
		return nil, r.confirm()
	}
	file, err := os.OpenFile(f.path, os.O_RDWR, 0)
	if err != nil {
		r.close()
		return nil, nil // what is the matter with it, opening it will tell
	}
	defer file.Close()
	if r.mark.state.Fits(file) {
		if err := r.confirm(); err != nil {
			r.close()
			return nil, err
		}
		for at, page := range r.mark.state.Metas() {
			if _, err := file.WriteAt(page, at); err != nil {
				r.close()
				return nil, err
			}
		}
		return r, nil
	}
	defer r.close()
	if foreign(f.path, r.id) {
		f.log.Warn("the journal's file is not the one that the log beside it belongs to; the log is removed")
		return nil, guard.Remove(r.path)
	}
	return nil, guard.Damaged("it lacks the state that the log beside it continues")
}

// foreign says that the file at path can be read, and says that it does not belong to a log.
func foreign(path string, id uint64) bool {
	var of []byte
	err := guard.View(path, func(tx *bolt.Tx) error {
		if tx.Bucket(schema.Format) != nil {
			of = append(of, tx.Bucket(schema.Format).Get(schema.KeyLog)...)
		}
		return nil
	})
	return err == nil && string(of) != string(schema.SequenceKey(id))
}

// replay brings the open file up to date with its log. Its pages of the checkpoint stay meanwhile.
func (f *File) replay(r *redo) error {
	return guard.Run(func() error {
		tx, err := f.db.Begin(false)
		if err != nil {
			return err
		}
		f.held = append(f.held, tx)
		n := 0
		err = f.db.Update(func(tx *bolt.Tx) (err error) {
			var damaged bool
			n, damaged, err = r.read(func(body []byte) error {
				f.pending = append(f.pending, body...)
				return schema.Replay(tx, body)
			})
			if damaged || errors.Is(err, schema.ErrDamaged) {
				return guard.Damaged(fmt.Sprintf("the log beside it is damaged (%d records can be read)", n))
			}
			return err
		})
		if err == nil && n > 0 {
			f.log.Info("the journal was brought up to date from its log", "changes", n)
		}
		return err
	})
}
