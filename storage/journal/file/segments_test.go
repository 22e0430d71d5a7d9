package file_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/storage/vfs/vfstest"
)

// TestSegmentsStayBounded: what a new snapshot makes needless goes, while rows change all the time.
func TestSegmentsStayBounded(t *testing.T) {
	path := sample.Path(t)
	f, err := file.Open(path, file.Options{})
	require.NoError(t, err)
	value := make([]byte, 400<<10)
	for range 150 { // 60 MiB that cannot be packed
		_, _ = rand.Read(value)
		require.NoError(t, f.Do(func(tx *schema.Tx) error {
			return tx.Bucket(schema.Meta).Put([]byte("a"), schema.SealOwned(value))
		}))
	}
	size, whole := f.SegmentsOf()
	require.True(t, whole)
	require.Less(t, size, int64(32<<20))
	require.NoError(t, f.Close())
	_, whole, err = file.Renew(path, path+".made", sample.Epoch)
	require.NoError(t, err)
	require.True(t, whole)
}

// TestSegmentsOfALargeFile: a file without segments that is too large for a copy at once is copied
// beside its use, and then nothing of it is needed any more.
func TestSegmentsOfALargeFile(t *testing.T) {
	path := sample.Path(t)
	filled := fill(t, path, true)
	f, err := file.Open(path, file.Options{CheckAtOnce: 1})
	require.NoError(t, err)
	require.Eventually(t, func() bool { _, whole := f.SegmentsOf(); return whole }, time.Minute, time.Millisecond)
	require.NoError(t, f.Close())
	require.NoError(t, os.Remove(path))
	filled.requireAll(t, openChecked(t, path, journal.Options{}))
}

// TestSegmentsHaveWhatTheLogLacks: what was written many checkpoints ago is in no record of the log
// any more, and after an orderly end none is; the segments have it. So they have where there is no
// log.
func TestSegmentsHaveWhatTheLogLacks(t *testing.T) {
	for _, end := range []string{"closed", "killed", "closed without a log", "killed without a log"} {
		t.Run(end, func(t *testing.T) {
			path := sample.Path(t)
			var rest func()
			opts := file.Options{CheckpointBytes: 1, Beside: func(r func()) { rest = r }}
			if strings.Contains(end, "without") {
				opts.MaxBytes = 40 << 20
			}
			f, err := file.Open(path, opts)
			require.NoError(t, err)
			want := map[string]string{}
			for i := range 60 {
				key, value := fmt.Sprint("key ", i%40), fmt.Sprint("value ", i)
				want[key] = value
				require.NoError(t, f.Do(func(tx *schema.Tx) error {
					if i%40 == 7 {
						delete(want, "key 3")
						if err := tx.Bucket(schema.Meta).Delete([]byte("key 3")); err != nil {
							return err
						}
					}
					return tx.Bucket(schema.Meta).Put([]byte(key), schema.SealOwned([]byte(value)))
				}))
				rest() // a checkpoint
			}
			if opts.MaxBytes != 0 {
				require.NoFileExists(t, path+file.LogSuffix)
			}
			if strings.HasPrefix(end, "closed") {
				require.NoError(t, f.Close())
			} else {
				require.NoError(t, sample.Crash(path, f.Close))
			}
			require.NoError(t, os.Remove(path))
			f, err = file.Open(path, file.Options{})
			require.NoError(t, err)
			require.NotNil(t, f.Damage())
			got := map[string]string{}
			require.NoError(t, f.View(func(tx *bolt.Tx) error {
				return guard.Bucket(tx, schema.Meta).ForEach(func(k, v []byte) error {
					value, err := schema.ReadOwned(v)
					got[string(k)] = string(value)
					return err
				})
			}))
			require.Equal(t, want, got)
			require.NoError(t, f.Close())
		})
	}
}

// TestSegmentsInPart: the file is gone, and a block is damaged: what is before that is kept.
func TestSegmentsInPart(t *testing.T) {
	path := sample.Path(t)
	var rest func()
	f, err := file.Open(path, file.Options{CheckpointBytes: 1, Beside: func(r func()) { rest = r }})
	require.NoError(t, err)
	for i := range 20 {
		require.NoError(t, f.Do(func(tx *schema.Tx) error {
			return tx.Bucket(schema.Meta).Put(fmt.Append(nil, i), schema.SealOwned([]byte("value")))
		}))
		rest() // a block
	}
	require.NoError(t, f.Close())
	segments, err := sample.Segments(path)
	require.NoError(t, err)
	for name, b := range segments {
		b[len(bytes.TrimRight(b, "\x00"))/2] ^= 1
		require.NoError(t, os.WriteFile(name, b, 0o600))
	}
	require.NoError(t, os.Remove(path))
	f, err = file.Open(path, file.Options{})
	require.NoError(t, err)
	require.NotNil(t, f.Damage())
	n := 0
	require.NoError(t, f.View(func(tx *bolt.Tx) error {
		n = schema.Keys(guard.Bucket(tx, schema.Meta))
		return nil
	}))
	require.Greater(t, n, 5)
	require.Less(t, n, 20)
	require.NoError(t, f.Close())
}

// TestSegmentsOfALaterFile: an older file that is put into the place of the one the segments belong
// to is believed, and they are not, whether it is sound or damaged in a place that is looked at
// before it is open, or later.
func TestSegmentsOfALaterFile(t *testing.T) {
	for _, damaged := range []string{"", "freelist", "value"} {
		path := sample.Path(t)
		j := openChecked(t, path, journal.Options{})
		old := sample.Event("old", 0, time.Second)
		require.NoError(t, j.Put(old, true))
		require.NoError(t, j.Close())
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		j = openChecked(t, path, journal.Options{})
		later := sample.Event("later", 0, time.Second)
		require.NoError(t, j.Put(later, true))
		require.NoError(t, j.Close())
		switch damaged {
		case "freelist":
			clear(b[pageOf(t, b, 0x10):][:4096])
		case "value":
			b[sample.ValueOf(t, b, schema.Outbox)+20] ^= 1
		}
		require.NoError(t, os.WriteFile(path, b, 0o600))
		for range 2 {
			j = openChecked(t, path, journal.Options{})
			_, err = j.Get(old.ID)
			require.NoError(t, err)
			_, err = j.Get(later.ID)
			require.ErrorIs(t, err, journal.ErrNotFound)
			require.NoError(t, j.Close())
			require.NoError(t, os.Remove(path)) // from now on its own segments are there
		}
	}
}

// TestSegmentsMakeRoom: where an event finds no room on the disk, the segments give theirs.
func TestSegmentsMakeRoom(t *testing.T) {
	dir := vfstest.TinyDisk(t, 12<<20)
	path := filepath.Join(dir, "journal.db")
	j := openChecked(t, path, journal.Options{})
	require.NoError(t, j.Put(sample.Event("cam", 0, time.Second), true))
	segments, err := sample.Segments(path)
	require.NoError(t, err)
	require.NotEmpty(t, segments)
	require.Error(t, os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 20<<20), 0o600))
	for i := 1; len(segments) > 0; i++ {
		at := time.Duration(i) * time.Minute
		require.NoError(t, j.Put(sample.Event("cam", at, at+time.Second), true))
		segments, err = sample.Segments(path)
		require.NoError(t, err)
	}
	require.NoError(t, j.Close())
}

// TestDamagedSegments: a check finds them while the file is still whole, and a repair makes others.
func TestDamagedSegments(t *testing.T) {
	path := sample.Path(t)
	filled := fillBeside(t, path, true, true)
	segments, err := sample.Segments(path)
	require.NoError(t, err)
	require.Len(t, segments, 1)
	for name, whole := range segments {
		end := len(bytes.TrimRight(whole, "\x00"))
		for _, at := range []int{10, 90, end - 9} { // of the first block, its rows, and the last block
			b := bytes.Clone(whole)
			b[at] ^= 1
			require.NoError(t, os.WriteFile(name, b, 0o600))
			h, err := file.Hold(path, 0)
			require.NoError(t, err)
			r, err := h.Check()
			require.NoError(t, err)
			require.Len(t, r.Problems, 1, "byte %d", at)
			require.Contains(t, r.Problems[0], "segment")
			require.NoError(t, h.Close())
		}
	}
	h, err := file.Hold(path, 0)
	require.NoError(t, err)
	d, err := h.Repair(file.Options{})
	require.NoError(t, err)
	require.Zero(t, d.LostPages+d.DamagedValues+d.Requeued)
	r, err := h.Check()
	require.NoError(t, err)
	require.Empty(t, r.Problems)
	require.NoError(t, h.Close())
	require.NoError(t, os.Remove(path))
	filled.requireAll(t, openChecked(t, path, journal.Options{}))
}
