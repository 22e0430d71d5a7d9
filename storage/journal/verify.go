package journal

import (
	"errors"
	"fmt"
	"os"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/boltfile"
)

func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
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

// checkMetas finds a file without its two meta pages before bbolt maps it. With one of them bad, bbolt would silently go
// back by a transaction, and forget an event that was promised to be durable.
func checkMetas(path string) error {
	size, err := fileSize(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && size == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	return withFile(path, func(f *boltfile.File, err error) error {
		if err != nil {
			return &damagedError{err}
		}
		if f.Metas() < 2 {
			return &damagedError{"one of the two meta pages is unreadable"}
		}
		return nil
	})
}

// verify reads the whole file: its structure, the checksums of its values, and whether the indexes are of the events'
// number. tx keeps the pages in place.
func verify(tx *bolt.Tx) error {
	return withFile(tx.DB().Path(), func(f *boltfile.File, err error) error {
		if err != nil {
			return &damagedError{err}
		}
		_, problems, err := inspect(f)
		if err == nil && len(problems) > 0 {
			err = &damagedError{problems[0]}
		}
		return err
	})
}

// inspect counts the keys of each bucket and names what is wrong, without bbolt.
func inspect(f *boltfile.File) (counts map[string]int, problems []string, err error) {
	counts = map[string]int{}
	tags := map[string]byte{string(bucketEvents): tagEvent, string(bucketOutbox): tagEntry, string(bucketParked): tagParked}
	lost, err := f.Walk(func(bucket string, key, value []byte) error {
		counts[bucket]++
		if tag := tags[bucket]; tag != 0 {
			if _, err := unseal(tag, value, nil); err != nil {
				problems = append(problems, fmt.Sprintf("bucket %q, key %q: %v", bucket, key, err))
			}
		}
		return nil
	})
	for _, l := range lost {
		problems = append(problems, l.Error())
	}
	for _, b := range [][]byte{bucketByTime, bucketByActor, bucketByType} {
		if n, want := counts[string(b)], counts[string(bucketEvents)]; n != want {
			problems = append(problems, fmt.Sprintf("index %q lists %d of %d events", b, n, want))
		}
	}
	if n, want := counts[string(bucketOutboxID)], counts[string(bucketOutbox)]; n != want {
		problems = append(problems, fmt.Sprintf("%d entries in the outbox, but %d ids", want, n))
	}
	return counts, problems, err
}
