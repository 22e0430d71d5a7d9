package database

import (
	"bytes"
	"fmt"
	"iter"

	bolt "go.etcd.io/bbolt"
)

// InFile is the records of an open file. Close closes the file.
func InFile(db *DB) Store { return file{db} }

type file struct{ db *DB }

func (f file) View(read func(Tx) error) error {
	return f.db.View(func(tx *bolt.Tx) error { return read(fileTx{tx, f.db}) })
}

func (f file) Update(write func(Tx) error) error {
	return f.db.Update(func(tx *bolt.Tx) error { return write(fileTx{tx, f.db}) })
}

// Held is true: a process that has the file open has it for itself.
func (f file) Held() bool { return true }

func (f file) Close() error { return f.db.Close() }

// OfFile is the records in a transaction of a file, for what only a file needs.
func OfFile(tx *bolt.Tx) Tx { return fileTx{tx: tx} }

type fileTx struct {
	tx *bolt.Tx
	db *DB // nil: not known
}

func (t fileTx) Bucket(name string) Bucket {
	b := t.tx.Bucket([]byte(name))
	switch {
	case b != nil:
		return (*fileBucket)(b)
	case t.tx.Writable():
		b, err := t.tx.CreateBucket([]byte(name))
		if err != nil {
			panic(err) // an empty name, or damage
		}
		return (*fileBucket)(b)
	case t.db != nil && t.db.Makes(name):
		panic(fmt.Sprintf("bucket %q is missing", name)) // damage, which the file mends
	}
	return (*fileBucket)(nil)
}

func (t fileTx) Buckets() (names []string) {
	_ = t.tx.ForEach(func(name []byte, _ *bolt.Bucket) error { // whose only errors are this function's
		names = append(names, string(name))
		return nil
	})
	return names
}

// fileBucket is a bucket of a file, nil for one that nothing was put into.
type fileBucket bolt.Bucket

func (b *fileBucket) bolt() *bolt.Bucket { return (*bolt.Bucket)(b) }

func (b *fileBucket) Get(key []byte) []byte {
	if b == nil {
		return nil
	}
	return b.bolt().Get(key)
}

func (b *fileBucket) Put(key, value []byte) error   { return b.bolt().Put(key, value) }
func (b *fileBucket) Delete(key []byte) error       { return b.bolt().Delete(key) }
func (b *fileBucket) NextSequence() (uint64, error) { return b.bolt().NextSequence() }

func (b *fileBucket) SetSequence(last uint64) error { return b.bolt().SetSequence(last) }

func (b *fileBucket) Sequence() uint64 {
	if b == nil {
		return 0
	}
	return b.bolt().Sequence()
}

func (b *fileBucket) Range(from, to []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		if b == nil {
			return
		}
		c := b.bolt().Cursor()
		for k, v := c.Seek(from); k != nil && (to == nil || bytes.Compare(k, to) < 0); k, v = c.Next() {
			if !yield(k, v) {
				return
			}
		}
	}
}

func (b *fileBucket) Backward(from, to []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		if b == nil {
			return
		}
		c := b.bolt().Cursor()
		var k, v []byte
		if to != nil {
			k, _ = c.Seek(to)
		}
		if k == nil {
			k, v = c.Last()
			if to != nil && bytes.Compare(k, to) >= 0 {
				k = nil
			}
		} else {
			k, v = c.Prev()
		}
		for ; k != nil && bytes.Compare(k, from) >= 0; k, v = c.Prev() {
			if !yield(k, v) {
				return
			}
		}
	}
}
