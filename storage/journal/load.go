package journal

import (
	"fmt"
	"path/filepath"
	"slices"

	bolt "go.etcd.io/bbolt"

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
			waiting, parked = keys(txBucket(tx, bucketOutbox)), keys(txBucket(tx, bucketParked))
			lacking = slices.ContainsFunc(laterBuckets, func(name []byte) bool { return tx.Bucket(name) == nil })
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
				for _, name := range laterBuckets {
					if _, err := tx.CreateBucketIfNotExists(name); err != nil {
						return err
					}
				}
				return txBucket(tx, bucketFormat).Delete(keyClean)
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
	if tx.Bucket(bucketFormat) == nil {
		if name, _ := tx.Cursor().First(); name != nil {
			return false, false, &damagedError{"it is a database, but not a journal"}
		}
		return true, false, nil
	}
	format := txBucket(tx, bucketFormat)
	switch v := format.Get(keyVersion); {
	case len(v) != 1:
		return false, false, &damagedError{"it has no version"}
	case v[0] > formatVersion:
		return false, false, fmt.Errorf("%w (its form is %d, known is %d)", ErrNewer, v[0], formatVersion)
	case v[0] < formatVersion:
		return false, false, errOldForm
	}
	for _, name := range firstBuckets {
		if tx.Bucket(name) == nil {
			return false, false, &damagedError{fmt.Sprintf("bucket %q is missing", name)}
		}
	}
	return false, format.Get(keyClean) != nil, nil
}

// checkOutbox looks through what matters most at every start: each entry of the outbox and each parked one has its event.
func checkOutbox(tx *bolt.Tx) error {
	events, ids := txBucket(tx, bucketEvents), txBucket(tx, bucketOutboxID)
	n := 0
	err := txBucket(tx, bucketOutbox).ForEach(func(k, v []byte) error {
		var e entryValue
		if err := e.read(v); err != nil {
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
	return txBucket(tx, bucketParked).ForEach(func(k, v []byte) error {
		if err := new(parkedValue).read(v); err != nil || events.Get(k) == nil {
			return &damagedError{fmt.Sprintf("parked event %q: it or its event is missing or damaged", k)}
		}
		return nil
	})
}

func createBuckets(tx *bolt.Tx) error {
	for _, name := range allBuckets {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return tx.Bucket(bucketFormat).Put(keyVersion, []byte{formatVersion})
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
