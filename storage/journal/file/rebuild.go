package file

import (
	"errors"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
)

// rebuildBytes is how many bytes of rows share a transaction of the new file.
const rebuildBytes = 4 << 20

// rebuild makes a new, synced file at to of the segments beside the one at from and of its log, and
// reads nothing of that file. whole is false, and there is no new file, where they do not have all
// that it held.
func rebuild(from, to string) (saved Account, whole bool, err error) {
	s := openSegments(from, true)
	if s == nil {
		return saved, false, nil
	}
	defer s.close()
	r := readRedo(from + LogSuffix)
	if r != nil {
		defer r.close()
	}
	if !s.reach(r) || r != nil && !isEmpty(from) && foreign(from, r.id) {
		return saved, false, nil
	}
	if err := guard.Remove(to); err != nil {
		return saved, false, err
	}
	saved, err = s.rebuild(r, to)
	_, damaged := errors.AsType[*guard.DamageError](err)
	if damaged || errors.Is(err, errGap) || errors.Is(err, schema.ErrDamaged) {
		return saved, false, guard.Remove(to)
	}
	if err != nil {
		return saved, false, errors.Join(err, guard.Remove(to))
	}
	return saved, true, nil
}

// reach says whether the blocks lead to the file as it was closed, or to what the log continues; r
// may be nil.
func (s *segments) reach(r *redo) bool {
	if r != nil {
		return s.last.redo == r.id && s.last.epoch >= r.mark.epoch
	}
	tx := s.last.closed
	_ = boltfile.Read(s.path, func(f *boltfile.File, err error) error {
		if err == nil && f.Metas() == 2 {
			tx = f.Meta().Tx
		}
		return nil
	})
	return tx != 0 && tx == s.last.closed
}

func (s *segments) rebuild(r *redo, to string) (saved Account, err error) {
	db, file, err := guard.Open(to, &bolt.Options{Timeout: time.Second, NoSync: true, NoGrowSync: true,
		FreelistType: bolt.FreelistMapType})
	if err != nil {
		return saved, err
	}
	db.AllocSize = growBytes
	var logged []byte
	err = guard.Run(func() error {
		if err := db.Update(schema.Create); err != nil {
			return err
		}
		if err := s.read(func(rows []byte) error { return replayInto(db, rows) }); err != nil {
			return err
		}
		if r != nil {
			_, damaged, err := r.read(func(body []byte) error { logged = append(logged, body...); return nil })
			if damaged || err != nil {
				return errors.Join(err, errGap)
			}
			if err := replayInto(db, logged); err != nil {
				return err
			}
		}
		return db.Update(func(tx *bolt.Tx) error { return s.end(tx, r, logged) })
	})
	if err == nil {
		err = db.Sync()
	}
	if err == nil {
		saved, err = countSound(db)
	}
	if _, ok := errors.AsType[*guard.DamageError](err); ok {
		guard.Abandon(file)
		return saved, err
	}
	return saved, errors.Join(err, db.Close())
}

// replayInto does rows once more in transactions that are not too large.
func replayInto(db *bolt.DB, rows []byte) error {
	for len(rows) > 0 {
		var part []byte
		var err error
		if part, rows, err = schema.CutRows(rows, rebuildBytes); err != nil {
			return err
		}
		if err := db.Update(func(tx *bolt.Tx) error { return schema.Replay(tx, part) }); err != nil {
			return err
		}
	}
	return nil
}

// end makes of a rebuilt file one that stands alone, and of the blocks those that lead to it. They
// go on leading to the damaged one too, until that is out of the way.
func (s *segments) end(tx *bolt.Tx, r *redo, logged []byte) error {
	format := guard.Bucket(tx, schema.Format)
	err := format.Put(schema.KeyVersion, []byte{schema.Version})
	for _, key := range [][]byte{schema.KeyClean, schema.KeyLog, schema.KeyProbe} {
		err = errors.Join(err, format.Delete(key))
	}
	b := s.last
	b.closed = uint64(tx.ID())
	if r != nil {
		b.epoch = r.epoch + 1
	}
	key := be.AppendUint64(be.AppendUint64(nil, b.id), b.number+1)
	if s.append(logged, b) != nil {
		return err // they are made again
	}
	return errors.Join(err, format.Put(schema.KeySegments, key))
}

// countSound reads a new file through.
func countSound(db *bolt.DB) (saved Account, err error) {
	err = guard.Run(func() error {
		return db.View(func(tx *bolt.Tx) error {
			saved.Events = schema.Keys(guard.Bucket(tx, schema.Events))
			saved.Waiting, saved.Parked = schema.CountQueues(tx)
			return checkPages(tx)
		})
	})
	return saved, err
}

// emptied finds a file that is new, or was cut to nothing, where what is beside it has what it
// held.
func (f *File) emptied() error {
	if !isEmpty(f.path) {
		return nil
	}
	s, r := openSegments(f.path, false), readRedo(f.path+LogSuffix)
	if r != nil {
		defer r.close()
	}
	if s == nil {
		return nil
	}
	defer s.close()
	if !s.reach(r) {
		return nil
	}
	empty, err := os.OpenFile(f.path, os.O_CREATE|os.O_WRONLY, 0o600) // to be set aside
	if err = errors.Join(err, empty.Close()); err != nil {
		return err
	}
	return guard.Damaged("it is missing or empty, and what is beside it is not")
}

func isEmpty(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == 0 || errors.Is(err, os.ErrNotExist)
}
