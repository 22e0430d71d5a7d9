package file_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
)

// late leaves what is left of a change to the next caller, so that the last one is in the log
// alone.
var late = file.Options{Beside: func(func()) {}}

func openFile(t testing.TB, path string, o file.Options) *file.File {
	t.Helper()
	f, err := file.Open(path, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

func putEvents(t testing.TB, f *file.File, from, upto int) {
	t.Helper()
	for i := from; i < upto; i++ {
		at := time.Duration(i) * time.Second
		ev, value, err := schema.SealChecked(sample.Event("cam", at, at+time.Second))
		require.NoError(t, err)
		require.NoError(t, f.Do(func(tx *schema.Tx) error {
			n, err := tx.Enqueue(ev, sample.Epoch)
			if err != nil {
				return err
			}
			return tx.Store(ev, schema.WithSequence(value, n))
		}))
	}
}

func countEvents(t testing.TB, f *file.File) (n int) {
	t.Helper()
	r, err := f.Check()
	require.NoError(t, err)
	require.Empty(t, r.Problems)
	require.NoError(t, f.View(func(tx *bolt.Tx) error { n = schema.Count(tx); return nil }))
	require.Equal(t, n, r.Waiting)
	return n
}

// TestFileAndLogAfterACrash: 40 events were promised, the last of them is in the log alone, and
// then something became of the file or the log.
func TestFileAndLogAfterACrash(t *testing.T) {
	const promised = 40
	closed := sample.Path(t)
	f := openFile(t, closed, file.Options{})
	putEvents(t, f, 0, 3)
	require.NoError(t, f.Close())
	require.NoFileExists(t, closed+file.LogSuffix)
	backup, err := os.ReadFile(closed)
	require.NoError(t, err)

	for name, c := range map[string]struct {
		change  func(t *testing.T, db, log []byte) (newDB, newLog []byte)
		events  int
		damaged bool
	}{
		"nothing": {func(_ *testing.T, db, log []byte) ([]byte, []byte) { return db, log }, promised, false},
		"the newest meta page is torn": {
			func(t *testing.T, db, log []byte) ([]byte, []byte) {
				copy(db[4096:], bytes.Repeat([]byte{7}, 100)) // a meta page that was half written
				return db, log
			}, promised, false},
		"both meta pages are torn": {func(_ *testing.T, db, log []byte) ([]byte, []byte) {
			clear(db[:8192])
			return db, log
		}, promised, false},
		"both meta pages and the tree's first page are torn": {func(_ *testing.T, db, log []byte) ([]byte, []byte) {
			clear(db[:8192])
			for at := 8192; at < len(db); at += 4096 { // branches and leaves of the tree of buckets
				if bytes.Contains(db[at:at+4096], schema.ByActor) && bytes.Contains(db[at:at+4096], schema.OutboxID) {
					clear(db[at:][:4096])
				}
			}
			return db, log
		}, promised, true},
		"the log's last record is torn": {func(t *testing.T, db, log []byte) ([]byte, []byte) {
			at := bytes.LastIndex(log, []byte("startTimestamp"))
			require.Positive(t, at)
			log[at] ^= 1
			return db, log
		}, promised - 1, false},
		"a record in the midst of the log is damaged": {func(t *testing.T, db, log []byte) ([]byte, []byte) {
			at := bytes.Index(log, []byte("startTimestamp"))
			require.Positive(t, at)
			log[at] ^= 1
			return db, log
		}, promised - 1, true},
		"a record of a setting is damaged, and nothing says so": {func(t *testing.T, db, log []byte) ([]byte, []byte) {
			at := bytes.LastIndex(log, []byte("a setting"))
			require.Positive(t, at)
			log[at] ^= 1
			return db, log
		}, promised, true},
		"the log is lost": {func(_ *testing.T, db, _ []byte) ([]byte, []byte) {
			return db, nil
		}, promised - 1, false},
		"the log's marks are lost": {func(_ *testing.T, db, log []byte) ([]byte, []byte) {
			clear(log[:8192])
			return db, log
		}, promised - 1, false},
		"the log is of no use": {func(_ *testing.T, db, log []byte) ([]byte, []byte) {
			return db, log[:100]
		}, promised - 1, false},
		"a backup took its place": {func(_ *testing.T, _, log []byte) ([]byte, []byte) {
			return backup, log
		}, 3, false},
		"the file is gone": {func(_ *testing.T, _, log []byte) ([]byte, []byte) {
			return nil, log
		}, promised, true}, // of the segments
		"the file's tree is zeroed": {func(_ *testing.T, db, log []byte) ([]byte, []byte) {
			clear(db[8192:])
			return db, log
		}, promised, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := sample.Path(t)
			f := openFile(t, path, late)
			putEvents(t, f, 0, 5)
			require.NoError(t, f.Do(func(tx *schema.Tx) error {
				return tx.Bucket(schema.Meta).Put([]byte("k"), schema.SealOwned([]byte("a setting")))
			}))
			putEvents(t, f, 5, promised)
			require.NoError(t, sample.Crash(path, f.Close))
			db, err := os.ReadFile(path)
			require.NoError(t, err)
			log, err := os.ReadFile(path + file.LogSuffix)
			require.NoError(t, err)
			db, log = c.change(t, bytes.Clone(db), log)
			for name, content := range map[string][]byte{path: db, path + file.LogSuffix: log} {
				require.NoError(t, guard.Remove(name))
				if content != nil {
					require.NoError(t, os.WriteFile(name, content, 0o600))
				}
			}
			if db != nil {
				h, err := file.Hold(path, time.Second)
				require.NoError(t, err)
				r, err := h.Check()
				require.NoError(t, err)
				if !c.damaged {
					require.Empty(t, r.Problems)
				}
				require.NoError(t, h.Close())
			}
			var said bytes.Buffer
			f = openFile(t, path, file.Options{Log: slog.New(slog.NewTextHandler(&said, nil))})
			require.Equal(t, c.damaged, f.Damage() != nil, "%v", f.Damage())
			require.Equal(t, c.events, countEvents(t, f), said.String())
			putEvents(t, f, 100, 103)
			require.NoError(t, f.Close())
			require.NoFileExists(t, path+file.LogSuffix)
			require.Equal(t, c.events+3, countEvents(t, openFile(t, path, file.Options{})))
		})
	}
}

// TestALifeWithCheckpoints: the log is used round and round, its room is enough, and the file's
// pages are used again.
func TestALifeWithCheckpoints(t *testing.T) {
	path := sample.Path(t)
	f := openFile(t, path, file.Options{CheckpointBytes: 100 << 10})
	for i := range 30 {
		putEvents(t, f, 0, 40) // the same ones
		require.NoError(t, f.NoteActivity(map[string]int64{fmt.Sprint("none", i): 1}))
	}
	require.Equal(t, 40, countEvents(t, f))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(12<<20), "1,200 changes of 50 KiB")
	// What does not fit into the log is stored too.
	big := bytes.Repeat([]byte{1}, 5<<20)
	require.NoError(t, f.Do(func(tx *schema.Tx) error {
		return tx.Bucket(schema.Meta).Put([]byte("big"), schema.SealOwned(big))
	}))
	require.NoError(t, sample.Crash(path, f.Close))
	f = openFile(t, path, late)
	require.Equal(t, 40, countEvents(t, f))
	require.NoError(t, f.View(func(tx *bolt.Tx) error {
		v, err := schema.ReadOwned(guard.Bucket(tx, schema.Meta).Get([]byte("big")))
		require.NoError(t, err)
		require.Equal(t, big, v)
		return nil
	}))
}
