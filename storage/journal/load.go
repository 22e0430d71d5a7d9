package journal

import (
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// load makes the buckets of a new file, checks those of an old one, and counts the outbox. Damage gives *damagedError.
func (j *Journal) load(db *bolt.DB) error {
	if err := guarded(func() error { return db.View(checkSize) }); err != nil {
		return err
	}
	clean := false
	waiting, parked := 0, 0
	err := guarded(func() error {
		return db.Update(func(tx *bolt.Tx) error {
			var err error
			clean, err = j.prepare(tx)
			return err
		})
	})
	if err != nil {
		return err
	}
	err = guarded(func() error {
		return db.View(func(tx *bolt.Tx) error {
			if !clean {
				if err := verify(tx); err != nil {
					return err
				}
			}
			waiting, parked = keys(txBucket(tx, bucketOutbox)), keys(txBucket(tx, bucketParked))
			if n := keys(txBucket(tx, bucketOutboxID)); n != waiting {
				return &damagedError{fmt.Sprintf("%d entries in the outbox, %d ids", waiting, n)}
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	j.stateMu.Lock()
	j.waiting, j.parked = waiting, parked
	j.stateMu.Unlock()
	return nil
}

// checkSize finds a file that was cut: reading its missing pages would be a fault.
func checkSize(tx *bolt.Tx) error {
	size, err := fileSize(tx.DB().Path())
	if err != nil {
		return err
	}
	if size < tx.Size() {
		return &damagedError{fmt.Sprintf("the file has %d bytes of %d", size, tx.Size())}
	}
	return nil
}

// prepare makes the buckets in a new file, refuses a newer form, and says whether the journal was closed in good order.
func (j *Journal) prepare(tx *bolt.Tx) (clean bool, err error) {
	fresh := tx.Bucket(bucketFormat) == nil
	if name, _ := tx.Cursor().First(); fresh && name != nil {
		return false, &damagedError{"it is a database, but not a journal"}
	}
	if fresh {
		return true, createBuckets(tx)
	}
	format := txBucket(tx, bucketFormat)
	switch v := format.Get(keyVersion); {
	case len(v) != 1:
		return false, &damagedError{"it has no version"}
	case v[0] > formatVersion:
		return false, fmt.Errorf("%w (its form is %d, known is %d)", ErrNewer, v[0], formatVersion)
	}
	for _, name := range allBuckets {
		if tx.Bucket(name) == nil {
			return false, &damagedError{fmt.Sprintf("bucket %q is missing", name)}
		}
	}
	clean = format.Get(keyClean) != nil
	return clean, format.Delete(keyClean)
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
