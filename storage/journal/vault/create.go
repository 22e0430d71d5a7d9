package vault

import (
	"errors"
	"os"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/guard"
)

// create puts an empty database at path if there is nothing. It gets its name when it is whole and on the device: a power cut at a
// first start is no damage.
func create(path string) error {
	removeErr := remove(path + newSuffix)
	switch info, err := os.Stat(path); {
	case err == nil && info.Size() > 0, boltfile.Unreadable(err):
		return nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	case removeErr != nil:
		return removeErr
	}
	db, _, err := guard.Open(path+newSuffix, &bolt.Options{})
	if err == nil {
		err = db.Close()
	}
	if err == nil {
		err = rename(path+newSuffix, path)
	}
	if err != nil {
		os.Remove(path + newSuffix)
	}
	return err
}
