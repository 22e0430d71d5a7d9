package database

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/guard"
)

// Report is what Check found.
type Report struct {
	Records int
	Missing bool // there is no such file, nor a copy of it
	guard.Report
}

// inspect reads the whole file at path, which nobody changes meanwhile, and compares it with its
// copy. It changes nothing. The error is one of reading.
func inspect(path string, o Options) (r Report, err error) {
	info, err := os.Stat(path)
	if err == nil {
		r.Bytes = info.Size()
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && r.Bytes == 0 {
		if _, err := os.Lstat(path + CopySuffix); err != nil {
			r.Missing = true
			return r, nil
		}
		r.Addf("the file is gone, and its copy is there")
		return r, nil
	}
	if err != nil && !boltfile.Unreadable(err) {
		return r, err
	}
	if err := guard.Metas(path); err != nil {
		damaged, ok := errors.AsType[*guard.DamageError](err)
		if !ok {
			return r, err
		}
		r.Addf("%v", damaged.Cause)
		return r, nil
	}
	var tx uint64
	err = boltfile.Read(path, func(f *boltfile.File, err error) error {
		if err != nil {
			return err
		}
		tx = f.Meta().Tx
		r.look(f, o)
		return nil
	})
	if err != nil {
		r.Addf("%v", err)
	}
	if r.Clean() {
		r.compare(path, o, tx)
	}
	return r, nil
}

// Look names what is wrong with the pages and records of a file that nobody changes.
func Look(f *boltfile.File, o Options) []string {
	var r Report
	if f.Metas() < 2 {
		r.Addf("one of the two meta pages is unreadable")
	}
	r.look(f, o.withDefaults())
	return r.Problems
}

func (r *Report) look(f *boltfile.File, o Options) {
	have, lost, err := f.Walk(func(bucket string, k, v []byte) error {
		r.Records++
		if err := o.Sound(bucket, k, v); err != nil {
			r.Addf("bucket %q: a record is damaged: %v", bucket, err) // its key may be an address
		}
		return nil
	})
	if err != nil {
		r.Addf("%v", err)
	}
	for _, l := range lost {
		if l.Bucket == "" {
			r.Addf("%v", l)
		} else {
			r.Addf("bucket %q, page %d is damaged", l.Bucket, l.Page)
		}
	}
	for _, name := range o.Buckets {
		if _, ok := have[string(name)]; !ok && len(have) > 0 {
			r.Addf("bucket %q is missing", name)
		}
	}
}

// compare holds a file that can be read against its copy, if that is of the same moment, and looks
// for contradictions.
func (r *Report) compare(path string, o Options, tx uint64) {
	err := guard.View(path, func(t *bolt.Tx) error {
		if tx == copyTx(path) {
			_, _ = readCopy(path+CopySuffix, func(bucket string, k, v []byte) error {
				if b := t.Bucket([]byte(bucket)); b == nil || !bytes.Equal(b.Get(k), v) {
					r.Addf("bucket %q: a record is not as in the copy", bucket)
				}
				return nil
			})
		}
		for _, p := range o.Agree(t) {
			r.Addf("%s", p)
		}
		return nil
	})
	if err != nil {
		r.Addf("%v", err)
	}
}

// copyTx is of which transaction the copy is, 0 if it cannot be read in full.
func copyTx(path string) uint64 {
	tx, err := readCopy(path+CopySuffix, func(string, []byte, []byte) error { return nil })
	if err != nil {
		return 0
	}
	return tx
}
