package journal

import (
	"bytes"
	"context"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/guard"
	"vmsbridge/storage/journal/table"
)

// copyBucket copies a bucket in small steps, each of them a transaction of either file.
func (j *Journal) copyBucket(ctx context.Context, db *bolt.DB, name []byte) error {
	var from []byte
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var pairs [][2][]byte
		var next []byte
		err := j.view(func(tx *bolt.Tx) error {
			pairs, next = nil, nil
			size := 0
			c := guard.Bucket(tx, name).Cursor()
			for k, v := c.Seek(from); k != nil; k, v = c.Next() {
				if len(pairs) == copyKeys || size > copyBytes {
					next = append([]byte(nil), k...)
					return nil
				}
				pair := make([]byte, 0, len(k)+len(v))
				pair = append(append(pair, k...), v...)
				pairs = append(pairs, [2][]byte{pair[:len(k):len(k)], pair[len(k):]})
				size += len(pair)
			}
			return nil
		})
		if err != nil {
			return err
		}
		err = guard.Run(func() error {
			return db.Update(func(tx *bolt.Tx) error {
				b := guard.Bucket(tx, name)
				b.FillPercent = compactFill
				for _, p := range pairs {
					if err := b.Put(p[0], p[1]); err != nil {
						return err
					}
				}
				return nil
			})
		})
		if err != nil || next == nil {
			return err
		}
		from = next
	}
}

// apply brings keys of the new file to what they are now in the old one.
func (j *Journal) apply(db *bolt.DB, changed map[table.Key]struct{}) error {
	if len(changed) == 0 {
		return nil
	}
	values := make(map[table.Key][]byte, len(changed))
	err := j.view(func(tx *bolt.Tx) error {
		for c := range changed {
			values[c] = bytes.Clone(guard.Bucket(tx, []byte(c.Bucket)).Get([]byte(c.Key)))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return guard.Run(func() error {
		return db.Update(func(tx *bolt.Tx) error {
			for c, v := range values {
				b := guard.Bucket(tx, []byte(c.Bucket))
				var err error
				if v == nil {
					err = b.Delete([]byte(c.Key))
				} else {
					err = b.Put([]byte(c.Key), v)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}
