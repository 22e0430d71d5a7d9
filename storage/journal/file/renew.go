package file

import (
	"errors"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"

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

// renewAll is rebuild, and where that cannot be, renew with what the log beside the file at from
// has: its records go into what could be read of that, and of this a file is made once more, since
// they may contradict each other.
func renewAll(from, to string, now time.Time) (Account, error) {
	if saved, whole, err := rebuild(from, to); whole || err != nil {
		return saved, err
	}
	saved, err := renew(from, to, now)
	r := readRedo(from + LogSuffix)
	if err != nil || r == nil {
		return saved, err
	}
	defer r.close()
	if foreign(from, r.id) {
		return saved, nil
	}
	rough := from + guard.NewSuffix
	if err := guard.Rename(to, rough); err != nil {
		return saved, err
	}
	defer os.Remove(rough)
	db, _, err := guard.Open(rough, &bolt.Options{Timeout: time.Second, NoSync: true, NoGrowSync: true})
	if err != nil {
		return saved, err
	}
	err = guard.Run(func() error {
		return db.Update(func(tx *bolt.Tx) error {
			_, _, err := r.read(func(record []byte) error { return schema.Replay(tx, record) })
			return err
		})
	})
	if err = errors.Join(err, db.Close()); err != nil {
		return saved, err
	}
	all, err := renew(rough, to, now)
	saved.Events, saved.Waiting, saved.Parked = all.Events, all.Waiting, all.Parked
	return saved, err
}
