package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/guard"
	"vmsbridge/storage/journal/salvage"
	"vmsbridge/storage/vfs"
)

// finishRecovery ends what a crash cut off. A new file takes the journal's name only when it is complete; if there is no
// journal but a recovered one, the damaged one has left its name already, and that is it. Half-made copies go; one that cannot be
// deleted is in nobody's way yet.
func finishRecovery(path string) error {
	_ = remove(path + compactingSuffix)
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		_ = remove(path + recoveringSuffix)
		return nil
	}
	if _, err := os.Lstat(path + recoveringSuffix); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return rename(path+recoveringSuffix, path)
}

func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return vfs.OS.SyncDir(filepath.Dir(to))
}

// remove deletes a file that may not be there.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// renew makes a new, synced file at to of what can be read of the one at from. On an error there is none.
func renew(from, to string, now time.Time) (salvage.Account, error) {
	if err := remove(to); err != nil {
		return salvage.Account{}, err
	}
	saved, err := salvage.File(from, to, now)
	if err != nil {
		os.Remove(to)
	}
	return saved, err
}

// upgrade makes a file of today's form of one of an older form. It reads all of it, so damage shows and is treated as such.
// A crash leaves the old file or the new one.
func (j *Journal) upgrade() error {
	now := j.opts.Now().UTC()
	next := j.path + recoveringSuffix
	saved, err := renew(j.path, next, now)
	if err != nil {
		return fmt.Errorf("bring the journal into today's form: %w", err)
	}
	if saved.LostPages > 0 || saved.DamagedValues > 0 {
		return j.replaceDamaged(guard.Damaged("found while it was brought into today's form"))
	}
	if err := rename(next, j.path); err != nil {
		return err
	}
	j.log.Info("the journal's file was brought into today's form", "events", saved.Events, "form", form.Version)
	return j.openDB()
}
