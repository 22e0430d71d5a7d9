package file

import (
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/storage/vfs"
)

// load makes the buckets of a new file, checks those of an old one, and counts the outbox. Damage
// gives *guard.DamageError; as long as any may be found, nothing is written.
//
// lazy leaves the pages of a large file to lookThrough, if it was not closed in good order, or so
// many wait that the look at each of them would take minutes on a cold disk.
func (f *File) load(db *bolt.DB, lazy bool) error {
	var fresh, clean bool
	waiting, parked := 0, 0
	err := guard.Run(func() error {
		return db.View(func(tx *bolt.Tx) (err error) {
			if fresh, clean, err = formOf(tx); err != nil || fresh {
				return err
			}
			large := lazy && tx.Size() > f.opts.CheckAtOnce
			waiting, parked = schema.Noted(tx)
			f.unchecked = large && (!clean || waiting+parked > f.opts.CountAtOnce)
			if !clean && !f.unchecked {
				if err := checkPages(tx); err != nil {
					return err
				}
			}
			if !f.unchecked {
				waiting, parked = schema.CountQueues(tx)
			}
			if f.unchecked {
				return nil // it takes as long as the rest
			}
			return checkOutbox(tx)
		})
	})
	if err != nil {
		return err
	}
	if fresh || clean {
		err = guard.Run(func() error {
			return db.Update(func(tx *bolt.Tx) error {
				if fresh {
					return schema.Create(tx)
				}
				return guard.Bucket(tx, schema.Format).Delete(schema.KeyClean)
			})
		})
		if err == nil && fresh {
			err = vfs.OS.SyncDir(filepath.Dir(db.Path())) // the file's name must last as its content does
		}
		if err != nil {
			return err
		}
	}
	f.tally.set(waiting, parked)
	return nil
}
