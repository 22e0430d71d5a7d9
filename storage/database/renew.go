package database

import (
	"bytes"
	"errors"
	"io/fs"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/guard"
)

// rest is what can be read of a damaged file and of its copy.
type rest struct {
	opts      Options
	records   map[string]map[string][]byte // by bucket and key
	sequences map[string]uint64            // by bucket
	lost      map[string]bool              // buckets of which something is missing; "" is all
	tx        uint64                       // the file's; 0: not known
	d         Damage
}

// renew makes a new, synced file at to of what can be read of the one at from and of its copy.
func renew(from, to string, o Options) (Damage, error) {
	r := rest{opts: o, records: map[string]map[string][]byte{}, lost: map[string]bool{}}
	err := boltfile.Read(from, r.ofFile)
	if errors.Is(err, fs.ErrNotExist) || boltfile.Unreadable(err) {
		r.lost[""], r.d.LostPages, err = true, 1, nil
	}
	if err == nil {
		err = r.ofCopy(from)
	}
	if err == nil {
		err = guard.Make(to, func(db *bolt.DB) error { return db.Update(r.write) })
	}
	return r.d, err
}

func (r *rest) keep(bucket string, k, v []byte) {
	if r.records[bucket] == nil {
		r.records[bucket] = map[string][]byte{}
	}
	r.records[bucket][string(k)] = bytes.Clone(v)
}

// ofFile takes what can be read of the damaged file.
func (r *rest) ofFile(f *boltfile.File, noMeta error) error {
	if noMeta != nil {
		r.lost[""], r.d.LostPages = true, 1
		return nil
	}
	r.tx = f.Meta().Tx
	if f.Metas() < 2 {
		r.lost[""] = true // the last transaction may be missing
	}
	sequences, lost, err := f.Walk(func(bucket string, k, v []byte) error {
		if r.opts.Sound(bucket, k, v) != nil {
			r.d.BadRecords++
			r.lost[bucket] = true
		} else {
			r.keep(bucket, k, v)
		}
		return nil
	})
	r.sequences, r.d.LostPages = sequences, len(lost)
	for _, l := range lost {
		r.lost[l.Bucket] = true
	}
	for _, name := range r.opts.Buckets {
		if _, ok := sequences[string(name)]; !ok {
			r.lost[string(name)] = true
		}
	}
	return err
}

// ofCopy takes from the copy what is missing. If it is not older than the file, its records, which
// have checksums, count. What was deleted since an older copy comes back only where a part of its
// bucket is lost.
func (r *rest) ofCopy(path string) error {
	tx := copyTx(path)
	counts := r.tx != 0 && tx != 0 && tx >= r.tx
	_, err := readCopy(path+CopySuffix, func(bucket string, k, v []byte) error {
		old, have := r.records[bucket][string(k)]
		if r.opts.Sound(bucket, k, v) == nil && r.opts.Copied(bucket) && !(have && bytes.Equal(old, v)) &&
			(counts || !have && (r.lost[bucket] || r.lost[""])) {
			r.d.Restored++
			r.keep(bucket, k, v)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errCopy) || boltfile.Unreadable(err) {
		return nil // what stands before its damage was taken
	}
	return err
}

func (r *rest) write(tx *bolt.Tx) error {
	for _, name := range r.opts.Buckets {
		if r.records[string(name)] == nil {
			r.records[string(name)] = map[string][]byte{}
		}
	}
	for name, records := range r.records {
		b, err := tx.CreateBucket([]byte(name))
		if err == nil {
			err = b.SetSequence(r.sequences[name])
		}
		for k, v := range records {
			if err == nil {
				err = b.Put([]byte(k), v)
			}
		}
		if err != nil {
			return err
		}
	}
	if err := r.opts.Rebuild(tx); err != nil {
		return err
	}
	return tx.ForEach(func(_ []byte, b *bolt.Bucket) error {
		return b.ForEach(func(_, _ []byte) error { r.d.Records++; return nil })
	})
}
