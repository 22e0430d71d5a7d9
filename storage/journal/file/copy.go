package file

import (
	"context"
	"os"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
)

// copyTo copies everything to a new file and lets it take the journal's name.
func (f *File) copyTo(ctx context.Context, next string, c *Compaction) (err error) {
	opts := f.boltOptions()
	opts.NoSync, opts.NoGrowSync = true, true
	db, file, err := guard.Open(next, opts)
	if err != nil {
		return err
	}
	f.dbMu.RLock()
	from := f.db
	f.dbMu.RUnlock()
	defer func() {
		if err != nil {
			_ = db.Close()
			os.Remove(next)
		}
	}()
	db.AllocSize = growBytes
	if err := guard.Run(func() error { return db.Update(schema.Create) }); err != nil {
		return err
	}
	// From here on every change is noted, so that it does not matter what the copying has seen of
	// it.
	f.commitMu.Lock()
	f.move.watch()
	f.commitMu.Unlock()
	for _, name := range schema.Buckets {
		if err := f.copyBucket(ctx, db, name); err != nil {
			return err
		}
	}
	for range 20 {
		changed := f.move.take()
		if err := guard.Run(func() error { return replayInto(db, changed) }); err != nil {
			return err
		}
		if len(changed) < catchUp {
			break
		}
	}
	if err := db.Sync(); err != nil {
		return err
	}
	if err := f.swap(from, db, file, c); err != nil {
		return err
	}
	// Giving back the old file's blocks takes a while, and nobody has to wait for it.
	if err := guard.Run(from.Close); err != nil {
		f.log.Warn("close the journal's old file", "error", err)
	}
	return nil
}

// copyBucket copies a bucket in small steps, each of them a transaction of either file.
func (f *File) copyBucket(ctx context.Context, db *bolt.DB, name []byte) error {
	var from []byte
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var pairs [][2][]byte
		var next []byte
		err := f.View(func(tx *bolt.Tx) error {
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
