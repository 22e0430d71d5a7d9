package file_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
)

// TestALargeFileIsReadBesideItsUse: one that was not closed in good order opens at once, and the
// damage in it is found and mended later.
func TestALargeFileIsReadBesideItsUse(t *testing.T) {
	path := sample.Path(t)
	all := fill(t, path, false)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	b[sample.ValueOf(t, b, schema.Events)+200] ^= 4 // in the JSON of an event, which its checksum tells
	require.NoError(t, os.WriteFile(path, b, 0o600))

	told := make(chan file.Damage, 1)
	f, err := file.Open(path, file.Options{CheckAtOnce: 1, OnDamage: func(d file.Damage) { told <- d }})
	require.NoError(t, err)
	select {
	case d := <-told:
		require.GreaterOrEqual(t, d.Events, len(all.events)-1)
	case <-time.After(30 * time.Second):
		require.Fail(t, "the damage was not found")
	}
	require.Eventually(t, func() bool { return f.Damage() != nil }, 10*time.Second, time.Millisecond)
	r, err := f.Check()
	require.NoError(t, err)
	require.Empty(t, r.Problems)
	require.NoError(t, f.Close())
	require.NoError(t, f.Close())
}

// TestALargeFileIsNotCounted: the file says how many wait and are parked, which is believed at
// first, and put right by the reading beside the use if it is wrong. Where a program has changed
// the outbox that notes nothing, as older builds do, it is the most that can wait.
func TestALargeFileIsNotCounted(t *testing.T) {
	for name, c := range map[string]struct {
		changed int
		clean   bool // of which nothing is counted at once where more wait than Open may look through
	}{"wrong": {0, false}, "of another state": {1, false},
		"of another state, closed in good order": {1, true}, "wrong, closed in good order": {0, true}} {
		t.Run(name, func(t *testing.T) {
			path := sample.Path(t)
			all := fill(t, path, c.clean)
			db, err := bolt.Open(path, 0o600, nil)
			require.NoError(t, err)
			require.NoError(t, db.Update(func(tx *bolt.Tx) error {
				if err := schema.New(tx, nil).NoteQueues(len(all.waiting)+5, len(all.parked)+1); err != nil {
					return err
				}
				outbox := tx.Bucket(schema.Outbox)
				return outbox.SetSequence(outbox.Sequence() + uint64(c.changed))
			}))
			require.NoError(t, db.Close())
			if c.changed > 0 {
				b, err := os.ReadFile(path)
				require.NoError(t, err)
				unread := sample.Path(t)
				require.NoError(t, os.WriteFile(unread, b, 0o600))
				f, err := file.OpenUnread(unread, file.Options{CheckAtOnce: 1, CountAtOnce: 1})
				require.NoError(t, err)
				waiting, _ := f.Tally()
				require.NoError(t, f.Close())
				require.Greater(t, waiting, len(all.waiting), "it is not counted, and none that waits is left out")
			}
			reading := make(chan struct{})
			f, err := file.Open(path,
				file.Options{CheckAtOnce: 1, CountAtOnce: 1, Log: slog.New(until{slog.DiscardHandler, reading})})
			require.NoError(t, err)
			defer func() { require.NoError(t, f.Close()) }()
			select {
			case <-reading:
			case <-time.After(time.Minute):
				require.Fail(t, "the file was not read beside its use")
			}
			waiting, parked := f.Tally()
			require.Equal(t, []int{len(all.waiting), len(all.parked)}, []int{waiting, parked})
			require.NoError(t, f.Do(func(*schema.Tx) error { return nil }))
			require.NoError(t, f.View(func(tx *bolt.Tx) error {
				waiting, parked := schema.Noted(tx)
				require.Equal(t, []int{len(all.waiting), len(all.parked)}, []int{waiting, parked})
				return nil
			}))
		})
	}
}

// until closes read once it is said that the file was read through.
type until struct {
	slog.Handler
	read chan struct{}
}

func (u until) Enabled(context.Context, slog.Level) bool { return true }

func (u until) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "is sound") {
		close(u.read)
	}
	return nil
}

// TestALargeFileMayBeClosedAtOnce: nothing that reads it outlives Close.
func TestALargeFileMayBeClosedAtOnce(t *testing.T) {
	path := sample.Path(t)
	fill(t, path, false)
	f, err := file.Open(path, file.Options{CheckAtOnce: 1})
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// TestADamagedListOfFreePagesIsFoundAtOnce: bbolt would write over what it names.
func TestADamagedListOfFreePagesIsFoundAtOnce(t *testing.T) {
	path := sample.Path(t)
	fill(t, path, false)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	for page := 2; page < len(b)/4096; page++ {
		if p := b[page*4096:]; p[8] == 0x10 && p[9] == 0 && p[10] > 1 {
			p[16+8] ^= 0x40 // the second id
		}
	}
	require.NoError(t, os.WriteFile(path, b, 0o600))
	f, err := file.Open(path, file.Options{CheckAtOnce: 1})
	require.NoError(t, err)
	require.NotNil(t, f.Damage())
	require.NoError(t, f.Close())
}

// TestNothingIsAcknowledgedInAFolderThatIsGone, and all goes on when it is back.
func TestNothingIsAcknowledgedInAFolderThatIsGone(t *testing.T) {
	for name, take := range map[string]func(dir string) (back func()){
		"moved": func(dir string) func() {
			require.NoError(t, os.Rename(dir, dir+"-moved"))
			return func() { require.NoError(t, os.Rename(dir+"-moved", dir)) }
		},
		"removed": func(dir string) func() { require.NoError(t, os.RemoveAll(dir)); return nil },
		"replaced": func(dir string) func() {
			require.NoError(t, os.Rename(dir, dir+"-moved"))
			require.NoError(t, os.CopyFS(dir, os.DirFS(dir+"-moved")))
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			require.NoError(t, os.Mkdir(dir, 0o700))
			f, err := file.Open(filepath.Join(dir, "journal.db"), file.Options{})
			require.NoError(t, err)
			defer f.Close()
			put := func() error {
				return f.Do(func(t *schema.Tx) error { return t.Bucket(schema.Meta).Put([]byte("x"), []byte("y")) })
			}
			require.NoError(t, put())
			require.NoError(t, f.Failing())
			back := take(dir)
			require.ErrorIs(t, f.Failing(), guard.ErrGone, "before anything is written")
			require.ErrorIs(t, put(), guard.ErrGone)
			require.NoError(t, f.View(func(*bolt.Tx) error { return nil }), "what is there can be read")
			if back != nil {
				back()
				require.NoError(t, f.Probe())
				require.NoError(t, f.Failing())
			}
		})
	}
}
