package file

import (
	"fmt"
	"os"
	"time"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
)

// renew makes a new, synced file at to of what can be read of the one at from. On an error there is
// none.
func renew(from, to string, now time.Time) (Account, error) {
	if err := guard.Remove(to); err != nil {
		return Account{}, err
	}
	saved, err := salvage(from, to, now)
	if err != nil {
		os.Remove(to)
	}
	return saved, err
}

// upgrade makes a file of today's form of one of an older form. It reads all of it, so damage shows
// and is treated as such. A crash leaves the old file or the new one.
func (f *File) upgrade() error {
	now := f.opts.Now().UTC()
	next := f.path + guard.RecoveringSuffix
	saved, err := renew(f.path, next, now)
	if err != nil {
		return fmt.Errorf("bring the journal into today's form: %w", err)
	}
	if saved.LostPages > 0 || saved.DamagedValues > 0 {
		return f.replaceDamaged(guard.Damaged("found while it was brought into today's form"))
	}
	if err := guard.Rename(next, f.path); err != nil {
		return err
	}
	f.log.Info("the journal's file was brought into today's form", "events", saved.Events, "form", schema.Version)
	return f.openDB(false)
}
