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

// renew makes a new, synced file at to in the place of the damaged one at from. Where the segments
// beside it, with the log, have all that it held, it is made of them, whole is true, and nothing of
// the damaged file is read; else of what can be read of all of these. On an error there is none.
func renew(from, to string, now time.Time) (saved Account, whole bool, err error) {
	s := openSegments(from, true)
	if s != nil {
		defer s.close()
	}
	r := readRedo(from + LogSuffix)
	if r != nil {
		defer r.close()
		if !isEmpty(from) && foreign(from, r.id) {
			r, s = nil, nil
		}
	}
	ours := s != nil && s.reach(r)
	if ours {
		saved, err = makeFile(to, func(db *bolt.DB) error { return s.rebuild(r, db) })
		_, damaged := errors.AsType[*guard.DamageError](err)
		if !damaged && !errors.Is(err, errGap) && !errors.Is(err, schema.ErrDamaged) {
			return saved, err == nil, err
		}
	}
	var m remains
	saved, err = makeFile(to, func(db *bolt.DB) error {
		m.db = db
		if err := m.gather(from, s, ours, r); err != nil {
			return err
		}
		return m.putInOrder(now)
	})
	m.saved.Events, m.saved.Waiting, m.saved.Parked = saved.Events, saved.Waiting, saved.Parked
	return m.saved, false, err
}

// makeFile makes a new, synced file at to, which fill fills, and reads it through. On an error
// there is none.
func makeFile(to string, fill func(*bolt.DB) error) (saved Account, err error) {
	err = guard.Make(to, func(db *bolt.DB) error {
		db.AllocSize = growBytes
		if err := db.Update(schema.Create); err != nil {
			return err
		}
		if err := fill(db); err != nil {
			return err
		}
		return db.View(func(tx *bolt.Tx) error {
			saved.Events = schema.Keys(guard.Bucket(tx, schema.Events))
			saved.Waiting, saved.Parked = schema.CountQueues(tx)
			return checkPages(tx)
		})
	})
	return saved, err
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

func (s *segments) rebuild(r *redo, db *bolt.DB) error {
	if err := s.read(func(rows []byte) error { return replayInto(db, rows) }); err != nil {
		return err
	}
	var logged []byte
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
	if s.last.since == 0 {
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
