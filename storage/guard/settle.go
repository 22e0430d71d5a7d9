package guard

import (
	"os"

	bolt "go.etcd.io/bbolt"
)

// Shows reports whether the newest transaction that db shows is this one: also one of which Commit
// gave an error, where its meta page was written and the flush of that failed. Then the device may
// have the transaction before, and bbolt takes pages for free that this one needs; so db has to be
// opened anew, with SettleMeta, before the next change.
func Shows(db *bolt.DB, transaction int) bool {
	tx, err := db.Begin(false)
	if err != nil {
		return false
	}
	defer func() { _ = tx.Rollback() }()
	return tx.ID() == transaction
}

// SettleMeta makes durable which transaction is the last of an open file that was not changed yet.
// After a flush of a meta page that failed, or was cut off with its program, the file may show one
// that the device lacks; the next change would write over pages of the one before.
func SettleMeta(db *bolt.DB, file *os.File) error {
	return Run(func() error {
		tx, err := db.Begin(false)
		if err != nil {
			return err
		}
		page := make([]byte, db.Info().PageSize)
		at := int64(tx.ID()%2) * int64(len(page))
		if err := tx.Rollback(); err != nil {
			return err
		}
		if _, err := file.ReadAt(page, at); err != nil {
			return err
		}
		if _, err := file.WriteAt(page, at); err != nil { // all of it: half a sector might be torn
			return err
		}
		return db.Sync()
	})
}
