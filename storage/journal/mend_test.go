package journal

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/sample"
)

// rot zeroes a page of events of a journal that is open, and asks for all of them, so that it is found.
func rot(t *testing.T, j *Journal, f filled) {
	t.Helper()
	b, err := os.ReadFile(j.path)
	require.NoError(t, err)
	file, err := os.OpenFile(j.path, os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = file.WriteAt(make([]byte, 4096), int64(leafOf(t, b, form.Events)))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	for id := range f.events {
		_, _ = j.Get(id)
	}
}

// later makes the pause between two tries pass.
func (j *Journal) later() {
	j.dbMu.Lock()
	defer j.dbMu.Unlock()
	j.broken.next = time.Time{}
}

// TestRecoveryThatCannotYet: a journal that is found damaged when it cannot be replaced is replaced as soon as it can.
func TestRecoveryThatCannotYet(t *testing.T) {
	path := sample.Path(t)
	f := fill(t, path, true)
	var told []Damage
	j := open(t, path, Options{OnDamage: func(d Damage) { told = append(told, d) }})
	inTheWay := path + recoveringSuffix
	require.NoError(t, os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700))
	rot(t, j, f)
	ev := sample.Event("new", time.Hour, 2*time.Hour)
	for range 3 {
		err := j.Put(ev, true)
		require.ErrorContains(t, err, "recover a damaged journal")
		require.NotErrorIs(t, err, ErrClosed)
		_, err = j.Check()
		require.Error(t, err)
		j.later()
	}
	require.Empty(t, told)
	require.NoError(t, os.RemoveAll(inTheWay))
	j.later()
	require.NoError(t, j.Put(ev, true))
	require.Len(t, told, 1)
	f.events[ev.ID] = ev
	events, _, _ := f.survey(t, j)
	require.GreaterOrEqual(t, events, 390)

	require.NoError(t, os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700))
	rot(t, j, f)
	require.Error(t, j.Put(ev, true))
	require.NoError(t, j.Close())
	j.later()
	require.ErrorIs(t, j.Put(ev, true), ErrClosed, "closed it stays")
	require.NoError(t, os.RemoveAll(inTheWay))
	open(t, path, Options{})
}

// TestRecoveryOnAFullDisk says that the disk is full, so that its owner makes room, and goes on when there is some.
func TestRecoveryOnAFullDisk(t *testing.T) {
	dir := tinyDisk(t, 10<<20)
	path := filepath.Join(dir, "journal.db")
	f := fill(t, path, true)
	j := open(t, path, Options{})
	ballast := filepath.Join(dir, "ballast")
	require.Error(t, os.WriteFile(ballast, make([]byte, 20<<20), 0o600))
	rot(t, j, f)
	ev := sample.Event("new", time.Hour, 2*time.Hour)
	require.ErrorIs(t, j.Put(ev, true), ErrFull)
	j.later()
	require.ErrorIs(t, j.Put(ev, true), ErrFull)
	require.NoError(t, os.Remove(ballast))
	j.later()
	require.NoError(t, j.Put(ev, true))
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
		{"a folder as the new file", func(t *testing.T, path string) error { return os.MkdirAll(path+newSuffix+"/x", 0o700) }, 400, true},
		{"a folder as the recovered file", func(t *testing.T, path string) error { return os.MkdirAll(path+recoveringSuffix+"/x", 0o700) }, 400, true},
		{"a folder as the compact file", func(t *testing.T, path string) error { return os.MkdirAll(path+compactingSuffix+"/x", 0o700) }, 400, true},
		{"a recovery without its last step", func(t *testing.T, path string) error { return os.Rename(path, path+recoveringSuffix) }, 400, true},
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
			j := open(t, path, Options{})
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

// TestRepairEndsARecovery that was cut off between its last two steps, when the journal has another name.
func TestRepairEndsARecovery(t *testing.T) {
	path := sample.Path(t)
	f := fill(t, path, true)
	require.NoError(t, os.Rename(path, path+recoveringSuffix))
	require.NoError(t, Exists(path))
	h := hold(t, path)
	r, err := h.Check()
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(r.Problems), "cut off")
	require.NoFileExists(t, path, "Check changes nothing")
	d, err := h.Repair(Options{Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	require.Nil(t, d)
	require.NoError(t, h.Close())
	j := open(t, path, Options{})
	events, _, _ := f.survey(t, j)
	require.Equal(t, 400, events)
}
