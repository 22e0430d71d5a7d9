package database

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/guard"
)

// salvager carries what can be read of a damaged file and of its copy into a new one.
type salvager struct {
	opts      Options
	db        *bolt.DB
	tx        *bolt.Tx
	lost      map[string]bool // buckets of which something is missing; "" is all
	sequences map[string]uint64
	fileTx    uint64
	n         int
	d         Damage
}

// batch is how many records share a transaction of the new file, which is synced once, at the end.
const batch = 2000

// salvage makes a new, synced file at to of what can be read of the one at from.
func salvage(from, to string, o Options) (d Damage, err error) {
	if err := guard.Remove(to); err != nil {
		return d, err
	}
	db, file, err := guard.Open(to, &bolt.Options{NoSync: true, NoGrowSync: true, NoFreelistSync: true})
	if err != nil {
		return d, err
	}
	s := &salvager{opts: o, db: db, lost: map[string]bool{}, sequences: map[string]uint64{}}
	err = guard.GiveToOwner(file)
	if err == nil {
		err = s.all(from)
	}
	if err == nil && !o.NoSync {
		err = db.Sync()
	}
	if err = errors.Join(err, db.Close()); err != nil {
		os.Remove(to)
	}
	return s.d, err
}

func (s *salvager) all(from string) error {
	defer func() {
		if s.tx != nil {
			_ = s.tx.Rollback()
		}
	}()
	err := boltfile.Read(from, s.file)
	if errors.Is(err, fs.ErrNotExist) || boltfile.Unreadable(err) {
		s.lost[""], err = true, nil
		s.d.LostPages++
	}
	if err != nil {
		return err
	}
	if err := s.copy(from + CopySuffix); err != nil {
		return err
	}
	if err := s.commit(); err != nil {
		return err
	}
	return s.db.Update(func(tx *bolt.Tx) error {
		for _, name := range s.opts.Buckets {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		for name, n := range s.sequences {
			if b := tx.Bucket([]byte(name)); b != nil {
				if err := b.SetSequence(n); err != nil {
					return err
				}
			}
		}
		if err := s.opts.Rebuild(tx); err != nil {
			return err
		}
		return tx.ForEach(func(_ []byte, b *bolt.Bucket) error {
			return b.ForEach(func(_, _ []byte) error { s.d.Records++; return nil })
		})
	})
}

// file takes what can be read of the damaged file.
func (s *salvager) file(f *boltfile.File, noMeta error) error {
	if noMeta != nil {
		s.lost[""] = true
		s.d.LostPages++
		return nil
	}
	s.fileTx = f.Meta().Tx
	if f.Metas() < 2 {
		s.lost[""] = true // the last transaction may be missing
	}
	s.sequences = f.Sequences()
	lost, err := f.Walk(func(bucket string, k, v []byte) error {
		if err := s.opts.Sound(bucket, k, v); err != nil {
			s.d.BadRecords++
			s.lost[bucket] = true
			return nil
		}
		return s.put(bucket, k, v)
	})
	for _, l := range lost {
		s.lost[l.Bucket] = true
		s.d.LostPages++
	}
	for _, name := range s.opts.Buckets {
		if _, ok := s.sequences[string(name)]; !ok {
			s.lost[string(name)] = true
		}
	}
	return err
}

// copy takes from the copy what is missing. If it is not older than the file, its records, which
// have checksums, count. What was deleted since an older copy comes back only where a part of its
// bucket is lost.
func (s *salvager) copy(path string) error {
	tx := uint64(0)
	if s.fileTx != 0 {
		tx = copyTx(path[:len(path)-len(CopySuffix)])
	}
	counts := tx != 0 && tx >= s.fileTx
	_, err := readCopy(path, func(bucket string, k, v []byte) error {
		if s.opts.Sound(bucket, k, v) != nil || !s.opts.Copied(bucket) {
			return nil
		}
		old, err := s.get(bucket, k)
		if err != nil || bytes.Equal(old, v) && old != nil {
			return err
		}
		if counts || old == nil && (s.lost[bucket] || s.lost[""]) {
			s.d.Restored++
			return s.put(bucket, k, v)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errCopy) || boltfile.Unreadable(err) {
		return nil // what stands before its damage was taken
	}
	return err
}

func (s *salvager) bucket(name string) (*bolt.Bucket, error) {
	if s.tx == nil {
		tx, err := s.db.Begin(true)
		if err != nil {
			return nil, err
		}
		s.tx = tx
	}
	return s.tx.CreateBucketIfNotExists([]byte(name))
}

func (s *salvager) get(bucket string, k []byte) ([]byte, error) {
	b, err := s.bucket(bucket)
	if err != nil {
		return nil, err
	}
	return b.Get(k), nil
}

func (s *salvager) put(bucket string, k, v []byte) error {
	b, err := s.bucket(bucket)
	if err == nil {
		err = b.Put(bytes.Clone(k), bytes.Clone(v))
	}
	if err != nil {
		return fmt.Errorf("keep a record of bucket %q: %w", bucket, err)
	}
	if s.n++; s.n%batch == 0 {
		return s.commit()
	}
	return nil
}

func (s *salvager) commit() error {
	tx := s.tx
	if tx == nil {
		return nil
	}
	s.tx = nil
	return tx.Commit()
}
