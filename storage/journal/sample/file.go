package sample

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/boltfile"
)

// Crash ends what has the file at path open, by close, and leaves the file as it was before that:
// as if the process had been killed. Nobody may change it meanwhile.
func Crash(path string, close func() error) error {
	for {
		log, err := os.ReadFile(path + ".log")
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return errors.Join(err, close())
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return errors.Join(err, close())
		}
		segments, err := Segments(path)
		if err != nil {
			return errors.Join(err, close())
		}
		// A checkpoint that was due changes both, and makes one not fit the other.
		if again, _ := os.ReadFile(path + ".log"); !bytes.Equal(log, again) {
			continue
		}
		err = errors.Join(close(), os.WriteFile(path, content, 0o600))
		for name, b := range segments {
			err = errors.Join(err, os.WriteFile(name, b, 0o600))
		}
		if log != nil {
			err = errors.Join(err, os.WriteFile(path+".log", log, 0o600))
		}
		return err
	}
}

// Segments are those of the journal at path, by their names.
func Segments(path string) (map[string][]byte, error) {
	names, err := filepath.Glob(path + ".segment-*")
	segments := map[string][]byte{}
	for _, name := range names {
		b, readErr := os.ReadFile(name)
		segments[name], err = b, errors.Join(err, readErr)
	}
	return segments, err
}

// RemoveSegments takes those of the journal at path away.
func RemoveSegments(path string) error {
	names, err := filepath.Glob(path + ".segment-*")
	for _, name := range names {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// LeafOf is the byte offset in a journal's file of a page in use that holds a value of the given
// bucket.
func LeafOf(t testing.TB, b, bucket []byte) int { return ValueOf(t, b, bucket) / 4096 * 4096 }

// ValueOf is the byte offset in a journal's file of a value in use of the given bucket. Its bytes
// may stand in the file more than once, on freed pages too; the one is meant whose change shows.
func ValueOf(t testing.TB, b, bucket []byte) int {
	t.Helper()
	values := func(b []byte) (list []string) {
		f, err := boltfile.New(bytes.NewReader(b), int64(len(b)))
		require.NoError(t, err)
		_, _, err = f.Walk(func(name string, _, v []byte) error {
			if name == string(bucket) {
				list = append(list, string(v))
			}
			return nil
		})
		require.NoError(t, err)
		return list
	}
	all := values(b)
	require.NotEmpty(t, all)
	for at := 0; ; at++ {
		i := bytes.Index(b[at:], []byte(all[0]))
		require.GreaterOrEqual(t, i, 0, "value not found")
		at += i
		b[at] ^= 0xff
		shows := !slices.Equal(values(b), all)
		b[at] ^= 0xff
		if shows {
			return at
		}
	}
}
