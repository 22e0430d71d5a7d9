package guard

import (
	"errors"
	"os"

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
	db, _, err := Open(path+NewSuffix, &bolt.Options{})
	if err == nil {
		err = db.Close()
	}
	if err == nil {
		err = Rename(path+NewSuffix, path)
	}
	if err != nil {
		os.Remove(path + NewSuffix)
	}
	return err
}
