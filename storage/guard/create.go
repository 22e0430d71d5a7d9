package guard

import (
	"errors"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/boltfile"
)

// Create puts an empty database at path if there is nothing. It gets its name when it is whole and
// on the device: a power cut at a first start is no damage.
func Create(path string) error {
	removeErr := Remove(path + NewSuffix)
	switch info, err := os.Stat(path); {
	case err == nil && info.Size() > 0, boltfile.Unreadable(err):
		return nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	case removeErr != nil:
		return removeErr
	}
	err := Make(path+NewSuffix, func(*bolt.DB) error { return nil })
	if err == nil {
		err = Rename(path+NewSuffix, path)
	}
	return err
}

// Make makes a new, synced database at path of what fill puts into it; nothing waits for the disk
// before its end. It is the folder's owner's. On an error there is none.
func Make(path string, fill func(*bolt.DB) error) error {
	if err := Remove(path); err != nil {
		return err
	}
	db, file, err := Open(path, &bolt.Options{Timeout: time.Second, NoSync: true, NoGrowSync: true,
		FreelistType: bolt.FreelistMapType})
	if err != nil {
		return err
	}
	if err = GiveToOwner(file); err == nil {
		err = Run(func() error { return fill(db) })
	}
	if err == nil {
		err = db.Sync()
	}
	if _, damaged := errors.AsType[*DamageError](err); damaged {
		Abandon(file)
	} else {
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		err = errors.Join(err, Remove(path))
	}
	return err
}

// Replace sets the damaged file at path aside, where there is one, under the name that it returns,
// and puts a new one into its place, which renew makes, whole and synced, at the path that it gets.
// Crash steps: (1) the new file is made beside it; (2) the damaged one is renamed; (3) the new one
// is renamed. Before (2) a start begins anew, between (2) and (3) FinishRecovery does (3).
func Replace(path string, now time.Time, renew func(to string) error) (aside string, err error) {
	next := path + RecoveringSuffix
	if err := renew(next); err != nil {
		return "", err
	}
	aside = AsideName(path, now)
	switch err := Rename(path, aside); {
	case errors.Is(err, os.ErrNotExist):
		aside = ""
	case err != nil:
		return "", err
	}
	return aside, Rename(next, path)
}
