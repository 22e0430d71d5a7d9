package journal

import (
	"fmt"
	"path/filepath"
	"slices"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/vfs"
)

// load makes the buckets of a new file, checks those of an old one, and counts the outbox. Damage gives *damagedError; as
// long as any may be found, nothing is written.
//
// A file of an older form gives errOldForm, unread.
func (j *Journal) load(db *bolt.DB) error {
	var fresh, clean, lacking bool
	waiting, parked := 0, 0
	err := guarded(func() error {
		return db.View(func(tx *bolt.Tx) (err error) {
			if fresh, clean, err = examine(tx); err != nil || fresh {
				return err
			}
			if !clean {
				if err := verify(tx); err != nil {
					return err
				}
			}
			waiting, parked = keys(txBucket(tx, form.Outbox)), keys(txBucket(tx, form.Parked))
			lacking = slices.ContainsFunc(form.LaterBuckets, func(name []byte) bool { return tx.Bucket(name) == nil })
			return checkOutbox(tx)
		})
	})
	if err != nil {
		return err
	}
	if fresh || clean || lacking {
		err = guarded(func() error {
			return db.Update(func(tx *bolt.Tx) error {
				if fresh {
					return createBuckets(tx)
				}
				for _, name := range form.LaterBuckets {
					if _, err := tx.CreateBucketIfNotExists(name); err != nil {
						return err
					}
				}
				return txBucket(tx, form.Format).Delete(form.KeyClean)
			})
		})
		if err == nil && fresh {
			err = vfs.OS.SyncDir(filepath.Dir(db.Path())) // the file's name must last as its content does
		}
		if err != nil {
			return err
		}
	}
	j.stateMu.Lock()
	j.waiting, j.parked = waiting, parked
	j.stateMu.Unlock()
	return nil
}

// examine says whether the file is new, and whether it was closed in good order; it refuses a newer form.
func examine(tx *bolt.Tx) (fresh, clean bool, err error) {
	if tx.Bucket(form.Format) == nil {
		if name, _ := tx.Cursor().First(); name != nil {
			return false, false, &damagedError{"it is a database, but not a journal"}
		}
		return true, false, nil
	}
	format := txBucket(tx, form.Format)
	switch v := format.Get(form.KeyVersion); {
	case len(v) != 1:
		return false, false, &damagedError{"it has no version"}
	case v[0] > form.Version:
		return false, false, fmt.Errorf("%w (its form is %d, known is %d)", ErrNewer, v[0], form.Version)
	case v[0] < form.Version:
		return false, false, errOldForm
	}
	for _, name := range form.FirstBuckets {
		if tx.Bucket(name) == nil {
			return false, false, &damagedError{fmt.Sprintf("bucket %q is missing", name)}
		}
	}
	return false, format.Get(form.KeyClean) != nil, nil
}

// checkOutbox looks through what matters most at every start: each entry of the outbox and each parked one has its event.
func checkOutbox(tx *bolt.Tx) error {
	events, ids := txBucket(tx, form.Events), txBucket(tx, form.OutboxID)
	n := 0
	err := txBucket(tx, form.Outbox).ForEach(func(k, v []byte) error {
		var e form.Entry
		if err := e.Read(v); err != nil {
			return &damagedError{fmt.Sprintf("entry %x of the outbox: %v", k, err)}
		}
		if string(ids.Get([]byte(e.ID))) != string(k) || events.Get([]byte(e.ID)) == nil {
			return &damagedError{fmt.Sprintf("entry %x of the outbox: event %q or its number is missing", k, e.ID)}
		}
		n++
		return nil
	})
	if err != nil {
		return err
	}
	if m := keys(ids); m != n {
		return &damagedError{fmt.Sprintf("%d entries in the outbox, %d ids", n, m)}
	}
	return txBucket(tx, form.Parked).ForEach(func(k, v []byte) error {
		if err := new(form.ParkedEntry).Read(v); err != nil || events.Get(k) == nil {
			return &damagedError{fmt.Sprintf("parked event %q: it or its event is missing or damaged", k)}
		}
		return nil
	})
}

func createBuckets(tx *bolt.Tx) error {
	for _, name := range form.Buckets {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return tx.Bucket(form.Format).Put(form.KeyVersion, []byte{form.Version})
}

// keys counts a bucket's keys, walking it.
func keys(b *bolt.Bucket) int {
	n := 0
	c := b.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		n++
	}
	return n
}
