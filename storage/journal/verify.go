package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"slices"
	"syscall"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/boltfile"
	"vmsbridge/storage/journal/form"
)

func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// unreadable says that the file system itself is damaged where the file is, or has no file there that could be read: what was in it
// cannot be had back from here, and is set aside with its name.
func unreadable(err error) bool {
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.EUCLEAN, syscall.EBADMSG, syscall.ELOOP, syscall.ENXIO} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// opens says whether there is anything to read.
func opens(path string) bool {
	f, err := os.Open(path)
	if err == nil {
		_ = f.Close()
	}
	return !unreadable(err)
}

// withFile reads the journal's file beside bbolt.
func withFile(path string, use func(*boltfile.File, error) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := boltfile.New(f, info.Size())
	return use(file, err)
}

// checkMetas finds a file that was cut, or is without its two meta pages, before bbolt maps it. With one of them bad, bbolt would silently go
// back by a transaction, and forget an event that was promised to be durable.
func checkMetas(path string) error {
	size, err := fileSize(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && size == 0 {
		return nil
	}
	if err == nil {
		err = withFile(path, checkFile)
	}
	if unreadable(err) {
		return &damagedError{err}
	}
	return err
}

// checkFile is checkMetas of an open file.
func checkFile(f *boltfile.File, err error) error {
	if err != nil {
		return &damagedError{err}
	}
	if f.Metas() < 2 {
		return &damagedError{"one of the two meta pages is unreadable"}
	}
	if want := int64(f.Meta().Pages) * int64(f.Meta().PageSize); f.Size() < want {
		return &damagedError{fmt.Sprintf("the file has %d bytes of %d", f.Size(), want)}
	}
	return nil
}

// verify reads the whole file: its structure, the checksums of its values, and whether the indexes and the outbox agree
// with the events. tx keeps the pages in place.
func verify(tx *bolt.Tx) error {
	return withFile(tx.DB().Path(), func(f *boltfile.File, err error) error {
		if err != nil {
			return &damagedError{err}
		}
		found, err := inspect(f)
		if all := found.all(); err == nil && len(all) > 0 {
			err = &damagedError{all[0]}
		}
		return err
	})
}

// inspector compares buckets that are read one after the other, by sums over their entries: what the events say must be
// listed adds to a sum, what is listed takes from it.
type inspector struct {
	seed           maphash.Seed
	sums           map[string]uint64
	problems       []string // of what was read
	contradictions []string // between buckets of which all was read
	count          []byte   // what the file says of events
	form           byte     // the file's version

	events, ongoing, waiting, parked int
}

// inspect names what is wrong in a file, and counts, without bbolt.
func inspect(f *boltfile.File) (found *inspector, err error) {
	in := &inspector{seed: maphash.MakeSeed(), sums: map[string]uint64{}}
	lost, err := f.Walk(func(bucket string, key, value []byte) error {
		if err := in.entry(bucket, key, value); err != nil && len(in.problems) < maxProblems {
			in.problems = append(in.problems, fmt.Sprintf("bucket %q, key %q: %v", bucket, key, err))
		}
		return nil
	})
	for _, l := range lost[:min(len(lost), maxProblems)] {
		in.problems = append(in.problems, l.Error())
	}
	// Another form's indexes are other ones.
	if len(in.problems) == 0 && (in.form == form.Version || in.form == 0) {
		for _, what := range []string{string(form.ByTime), string(form.ByActor), string(form.ByType), string(form.Ongoing), string(form.OutboxID), string(form.ChangesID)} {
			if in.sums[what] != 0 {
				in.contradictions = append(in.contradictions, fmt.Sprintf("bucket %q contradicts what it is derived from", what))
			}
		}
		if n := in.count; (len(n) != 8 || binary.BigEndian.Uint64(n) != uint64(in.events)) && in.events+len(n) > 0 {
			in.contradictions = append(in.contradictions, fmt.Sprintf("there are %d events, and not as many as is noted", in.events))
		}
	}
	return in, err
}

// all is everything that is wrong.
func (in *inspector) all() []string { return slices.Concat(in.problems, in.contradictions) }

func (in *inspector) hash(parts ...[]byte) uint64 {
	var h maphash.Hash
	h.SetSeed(in.seed)
	for _, p := range parts {
		var n [4]byte
		binary.BigEndian.PutUint32(n[:], uint32(len(p)))
		h.Write(n[:])
		h.Write(p)
	}
	return h.Sum64()
}

func (in *inspector) entry(bucket string, key, value []byte) error {
	switch bucket {
	case string(form.Events):
		in.events++
		h, err := form.ReadHead(value)
		if err != nil {
			return err
		}
		for _, e := range h.Listings(string(key)) {
			in.sums[string(e.Bucket)] += in.hash(e.Key, e.Value)
		}
		if h.End == form.EndOngoing {
			in.sums[string(form.Ongoing)] += in.hash(key)
		}
	case string(form.ByTime), string(form.ByActor), string(form.ByType):
		in.sums[bucket] -= in.hash(key, value)
	case string(form.Ongoing):
		in.ongoing++
		if len(value) != 8 {
			return fmt.Errorf("%w: %d bytes", form.ErrDamaged, len(value))
		}
		in.sums[bucket] -= in.hash(key)
	case string(form.Outbox):
		in.waiting++
		var e form.Entry
		if err := e.Read(value); err != nil {
			return err
		}
		in.sums[string(form.OutboxID)] += in.hash([]byte(e.ID), key)
	case string(form.OutboxID):
		in.sums[bucket] -= in.hash(key, value)
	case string(form.Changes):
		var v form.Change
		if err := v.Read(value); err != nil {
			return err
		}
		in.sums[string(form.ChangesID)] += in.hash([]byte(v.ID), key)
	case string(form.ChangesID):
		p := form.ReadChangePlaces(value)
		for _, place := range []uint64{p.Began, p.Ended} {
			if place != 0 {
				in.sums[bucket] -= in.hash(key, form.SequenceKey(place))
			}
		}
	case string(form.Meta):
		_, err := form.ReadOwned(value)
		return err
	case string(form.Parked):
		in.parked++
		return new(form.ParkedEntry).Read(value)
	case string(form.Format):
		if string(key) == string(form.KeyCount) {
			in.count = bytes.Clone(value)
		}
		if string(key) == string(form.KeyVersion) && len(value) == 1 {
			in.form = value[0]
		}
	}
	return nil
}
