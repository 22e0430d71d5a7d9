package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/storage/vfs"
)

// swap takes over the last changes and lets the new file take the old one's place.
func (f *File) swap(from, db *bolt.DB, file *os.File, c *Compaction) error {
	f.commitMu.Lock()
	defer f.commitMu.Unlock()
	began := time.Now()
	if err := guard.Run(func() error { return replayInto(db, f.move.take()) }); err != nil {
		return err
	}
	var sequence, changes uint64
	err := f.View(func(tx *bolt.Tx) error {
		sequence, changes = guard.Bucket(tx, schema.Outbox).Sequence(), guard.Bucket(tx, schema.Changes).Sequence()
		return nil
	})
	if err != nil {
		return err
	}
	db.NoSync, db.NoGrowSync = false, false
	err = guard.Run(func() error {
		return db.Update(func(tx *bolt.Tx) error {
			c.After = tx.Size()
			format := guard.Bucket(tx, schema.Format)
			return errors.Join(format.Put(schema.KeyVersion, []byte{schema.Version}), format.Delete(schema.KeyLog),
				guard.Bucket(tx, schema.Outbox).SetSequence(sequence),
				guard.Bucket(tx, schema.Changes).SetSequence(changes))
		})
	})
	if err != nil {
		return err
	}
	// Either file stands alone while it is not sure whose the name is.
	f.dbMu.RLock()
	if f.db == from && f.redo != nil {
		err = f.stand()
	}
	f.dbMu.RUnlock()
	if err == nil {
		err = f.exchange(from, db, file)
	}
	if err != nil {
		f.attachNow()
		return err
	}
	// Changes are promised to last from now on by the new file, so its name must last before any is
	// made. Reads do not wait for that.
	f.namesUnsure = true
	_ = f.settleNames()
	c.Held = time.Since(began)
	return nil
}

// exchange puts the new file into the place of the old one. commitMu is held, so no change is under
// way.
func (f *File) exchange(from, db *bolt.DB, file *os.File) error {
	f.dbMu.Lock()
	defer f.dbMu.Unlock()
	if f.db == nil {
		return ErrClosed
	}
	if f.db != from {
		return errors.New("the journal was recovered from damage meanwhile")
	}
	if err := os.Rename(f.path+guard.CompactingSuffix, f.path); err != nil {
		return err
	}
	f.db, f.file = db, file
	return nil
}

// settleNames makes the file's name durable where it is not yet; until it is, no change is
// promised. commitMu is held, and guards namesUnsure.
func (f *File) settleNames() error {
	if !f.namesUnsure {
		return nil
	}
	if err := vfs.OS.SyncDir(filepath.Dir(f.path)); err != nil {
		return fmt.Errorf("make the compacted journal's name durable: %w", err)
	}
	f.namesUnsure = false
	f.attachNow()
	return nil
}

// attachNow is attachAgain, however long ago that was tried. commitMu is held.
func (f *File) attachNow() {
	f.dbMu.RLock()
	defer f.dbMu.RUnlock()
	if f.attachNext = (time.Time{}); f.db != nil {
		f.attachAgain()
	}
}
