package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
)

// boltSide has a bucket for each camera, its keys the times; what comes between two flushes is one
// transaction, which is the best that bbolt can do.
type boltSide struct {
	db *bolt.DB
	tx *bolt.Tx
}

func openBolt(dir string) (side, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	db, err := bolt.Open(filepath.Join(dir, "bolt"), 0o600, &bolt.Options{FreelistType: bolt.FreelistMapType})
	return &boltSide{db: db}, err
}

func boltKey(t time.Time) []byte { return binary.BigEndian.AppendUint64(nil, uint64(t.UnixNano())) }

func (s *boltSide) Append(camera string, t time.Time, jpeg []byte) error {
	if s.tx == nil {
		tx, err := s.db.Begin(true)
		if err != nil {
			return err
		}
		s.tx = tx
	}
	b, err := s.tx.CreateBucketIfNotExists([]byte(camera))
	if err != nil {
		return err
	}
	b.FillPercent = 1
	return b.Put(boltKey(t), jpeg)
}

func (s *boltSide) Flush() error {
	if s.tx == nil {
		return nil
	}
	err := s.tx.Commit()
	s.tx = nil
	return err
}

func (s *boltSide) Before(camera string, t time.Time) (at time.Time, jpeg []byte, err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(camera))
		if b == nil {
			return errNone
		}
		c := b.Cursor()
		k, v := c.Seek(boltKey(t))
		if k == nil {
			k, v = c.Last()
		} else {
			k, v = c.Prev()
		}
		if k == nil {
			return errNone
		}
		at, jpeg = time.Unix(0, int64(binary.BigEndian.Uint64(k))), append([]byte(nil), v...)
		return nil
	})
	return at, jpeg, err
}

func (s *boltSide) Prune(bytes int64) error {
	return s.db.Update(func(tx *bolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bolt.Bucket) error {
			c := b.Cursor()
			for k, v := c.First(); k != nil && bytes > 0; k, v = c.First() {
				bytes -= int64(len(v))
				if err := c.Delete(); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func (s *boltSide) Close() error {
	if err := s.Flush(); err != nil {
		return err
	}
	return s.db.Close()
}
