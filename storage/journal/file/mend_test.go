package file_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/storage/vfs/vfstest"
)

// rot zeroes a page of events of a journal that is open, and asks for all of them, so that it is
// found.
func rot(t *testing.T, path string, j *journal.Journal, f filled) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = file.WriteAt(make([]byte, 4096), int64(sample.LeafOf(t, b, schema.Events)))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	for id := range f.events {
		_, _ = j.Get(id)
	}
}

// soon tries until it gives no error: a file that could not be replaced is tried again after a
// pause.
func soon(t *testing.T, try func() error) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.NoError(c, try()) }, time.Minute, 20*time.Millisecond)
}

// TestRecoveryThatCannotYet: a journal that is found damaged when it cannot be replaced is replaced
// as soon as it can.
func TestRecoveryThatCannotYet(t *testing.T) {
	t.Parallel() // it waits most of the time
	path := sample.Path(t)
	f := fill(t, path, true)
	var told []file.Damage
	j := openChecked(t, path, journal.Options{OnDamage: func(d file.Damage) { told = append(told, d) }})
	inTheWay := path + ".recovering"
	require.NoError(t, os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700))
	rot(t, path, j, f)
	ev := sample.Event("new", time.Hour, 2*time.Hour)
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); { // it is tried again meanwhile
		err := j.Put(ev, true)
		require.ErrorContains(t, err, "recover a damaged journal")
		require.NotErrorIs(t, err, journal.ErrClosed)
		_, err = j.Check()
		require.Error(t, err)
	}
	require.Empty(t, told)
	require.NoError(t, os.RemoveAll(inTheWay))
	soon(t, func() error { return j.Put(ev, true) })
	require.Len(t, told, 1)
	f.events[ev.ID] = ev
	events, _, _ := f.survey(t, j)
	require.GreaterOrEqual(t, events, 390)

	require.NoError(t, os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700))
	rot(t, path, j, f)
	require.Error(t, j.Put(ev, true))
	require.NoError(t, j.Close())
	require.ErrorIs(t, j.Put(ev, true), journal.ErrClosed, "closed it stays")
	require.NoError(t, os.RemoveAll(inTheWay))
	openChecked(t, path, journal.Options{})
}

// TestRecoveryOnAFullDisk says that the disk is full, so that its owner makes room, and goes on
// when there is some.
func TestRecoveryOnAFullDisk(t *testing.T) {
	t.Parallel() // it waits most of the time
	dir := vfstest.TinyDiskHeld(t, 10<<20)
	path := filepath.Join(dir, "journal.db")
	f := fill(t, path, true)
	j := openChecked(t, path, journal.Options{})
	ballast := filepath.Join(dir, "ballast")
	require.Error(t, os.WriteFile(ballast, make([]byte, 20<<20), 0o600))
	rot(t, path, j, f)
	ev := sample.Event("new", time.Hour, 2*time.Hour)
	require.ErrorIs(t, j.Put(ev, true), journal.ErrFull)
	require.ErrorIs(t, j.Put(ev, true), journal.ErrFull)
	require.NoError(t, os.Remove(ballast))
	soon(t, func() error { return j.Put(ev, true) })
	f.events[ev.ID] = ev
	events, _, _ := f.survey(t, j)
	require.GreaterOrEqual(t, events, 390)
}

// TestOddFiles stand where the journal's are expected: it starts, with what can be had.
func TestOddFiles(t *testing.T) {
	for _, c := range []struct {
		name   string
		make   func(t *testing.T, path string) error
		events int
		clean  bool // no damage
	}{
		{"a folder", func(t *testing.T, path string) error {
			require.NoError(t, os.Remove(path))
			return os.MkdirAll(path+"/x", 0o700)
		}, 0, false},
		{"a link to itself", func(t *testing.T, path string) error {
			require.NoError(t, os.Remove(path))
			return os.Symlink(path, path)
		}, 0, false},
		{"a link to nowhere", func(t *testing.T, path string) error {
			require.NoError(t, os.Remove(path))
			return os.Symlink("/nowhere", path)
		}, 0, true},
		{"a link to the journal", func(t *testing.T, path string) error {
			require.NoError(t, os.Rename(path, path+"x"))
			return os.Symlink(path+"x", path)
		}, 400, true},
		{"a folder as the new file", func(t *testing.T, path string) error {
			return os.MkdirAll(path+".new"+"/x", 0o700)
		}, 400, true},
		{"a folder as the recovered file", func(t *testing.T, path string) error {
			return os.MkdirAll(path+".recovering"+"/x", 0o700)
		}, 400, true},
		{"a folder as the compact file", func(t *testing.T, path string) error {
			return os.MkdirAll(path+".compacting"+"/x", 0o700)
		}, 400, true},
		{"a recovery without its last step", func(t *testing.T, path string) error {
			return os.Rename(path, path+".recovering")
		}, 400, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := sample.Path(t)
			f := fill(t, path, false)
			require.NoError(t, c.make(t, path))
			h := hold(t, path)
			r, err := h.Check()
			require.NoError(t, err)
			t.Log(r.Problems)
			require.NoError(t, h.Close())
			j := openChecked(t, path, journal.Options{})
			require.Equal(t, c.clean, j.Damage() == nil, "%v", j.Damage())
			events, _, _ := f.survey(t, j)
			require.Equal(t, c.events, events)
			require.NoError(t, j.Close())
			h = hold(t, path)
			r, err = h.Check()
			require.NoError(t, err)
			require.Empty(t, r.Problems)
			require.NoError(t, h.Close())
		})
	}
}

// TestRepairEndsARecovery that was cut off between its last two steps, when the journal has another
// name.
func TestRepairEndsARecovery(t *testing.T) {
	path := sample.Path(t)
	f := fill(t, path, true)
	require.NoError(t, os.Rename(path, path+".recovering"))
	require.NoError(t, guard.Exists(path))
	h := hold(t, path)
	r, err := h.Check()
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(r.Problems), "cut off")
	require.NoFileExists(t, path, "Check changes nothing")
	d, err := h.Repair(file.Options{Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	require.Nil(t, d)
	require.NoError(t, h.Close())
	j := openChecked(t, path, journal.Options{})
	events, _, _ := f.survey(t, j)
	require.Equal(t, 400, events)
}
