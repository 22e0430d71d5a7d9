package main

import (
	"compress/gzip"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// openShared opens a copy of what a release left in whose registry ids were one space for all
// accounts: north has the bridge "bridge" with "gate" and "yard", and "old", which is gone; south
// has "bridge-s" with "door". There are 30 events of gate, a second apart, the last one ongoing,
// and one each of old, door, the account north and its user u1.
func openShared(t *testing.T, dir string) *ledger {
	t.Helper()
	for _, name := range []string{registryFile, eventsFile} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		f, err := os.Open(filepath.Join("testdata", "shared-ids-"+name+".gz"))
		require.NoError(t, err)
		defer f.Close()
		z, err := gzip.NewReader(f)
		require.NoError(t, err)
		raw, err := io.ReadAll(z)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, raw, 0o600))
	}
	reg, err := registry.Open(filepath.Join(dir, registryFile))
	require.NoError(t, err)
	j, err := journal.Open(filepath.Join(dir, eventsFile), journal.Options{})
	require.NoError(t, err)
	require.Nil(t, j.Damage())
	return &ledger{Journal: j, registry: reg, log: slog.New(slog.DiscardHandler)}
}

func (l *ledger) shut(t *testing.T) {
	t.Helper()
	require.NoError(t, l.Journal.Close())
	require.NoError(t, l.registry.Close())
}

// What a release kept when ids were one space for all accounts is all there, whoever comes with the
// same ids later.
func TestFilesOfTheReleaseBefore(t *testing.T) {
	dir := t.TempDir()
	l := openShared(t, dir)
	total := func(account, typ, id string) int {
		t.Helper()
		page, err := l.List(vms.Query{Actors: []vms.Actor{{Type: typ, ID: id, Account: account}}, PageSize: 7}, nil)
		require.NoError(t, err)
		for _, ev := range page.Events {
			require.Equal(t, []string{account, id, ev.NaturalID()}, []string{ev.ActorAccountID, ev.ActorID, ev.ID})
			got, err := l.Get(account, ev.ID)
			require.NoError(t, err)
			require.Equal(t, ev, got)
		}
		return page.Total
	}
	all := func() {
		t.Helper()
		require.Equal(t, []int{30, 1, 1, 1}, []int{total("north", "camera", "gate"), total("north", "camera", "old"),
			total("north", "account", "north"), total("north", "user", "u1")})
		require.Equal(t, []string{"gate", "yard"}, l.registry.CameraIDs("north", ""))
		gate, ok := l.registry.CameraOf("north", "gate")
		require.True(t, ok)
		require.Equal(t, "Gate of north", gate.Name)
		_, b, ok := l.registry.Camera("north", "yard")
		require.True(t, ok)
		require.Equal(t, []string{"bridge", "im4ge"}, []string{b.ID, b.Token})
	}
	all()
	require.Equal(t, 1, total("south", "camera", "door"))
	key, err := l.registry.Key("page-token", func() []byte { return nil })
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef0123456789abcdef", string(key))

	// south gets the same ids, and north goes on under its own.
	require.NoError(t,
		l.registry.Register(t.Context(), principal("south"),
			vms.Registration{ID: "bridge", Cameras: []vms.RegisteredCamera{{ID: "gate"}, {ID: "old"}}}))
	for n := range 3 {
		require.NoError(t, l.Put(motion("south", "gate", n), false))
	}
	last := motion("north", "gate", 29)
	require.Equal(t, last.ID, motion("south", "gate", 29).ID)
	last.EndTimestamp = vms.Ptr(last.StartTimestamp.Add(time.Second))
	require.NoError(t, l.Put(last, false), "it ends what was ongoing")
	got, err := l.Get("north", last.ID)
	require.NoError(t, err)
	require.False(t, got.Ongoing())
	_, err = l.Get("south", last.ID)
	require.ErrorIs(t, err, journal.ErrNotFound)
	require.NoError(t, l.Put(motion("north", "gate", 100), false))
	require.Equal(t, 31, total("north", "camera", "gate"))
	require.Equal(t, []int{3, 0}, []int{total("south", "camera", "gate"), total("south", "camera", "old")})
	for _, id := range []string{"south/" + motion("", "gate", 1).ID, "north/" + last.ID, ""} {
		_, err = l.Get("north", id)
		require.ErrorIs(t, err, journal.ErrNotFound, "how events are kept is nobody's way in")
	}
	require.NoError(t,
		l.registry.Register(t.Context(), principal("north"),
			vms.Registration{ID: "bridge", Name: "Bridge of north", ImageToken: "im4ge",
				Cameras: []vms.RegisteredCamera{{ID: "gate", Name: "Gate of north"},
					{ID: "yard", Name: "Yard of north"}}}))
	l.shut(t)

	l = openShared(t, dir)
	require.Equal(t, []int{31, 3}, []int{total("north", "camera", "gate"), total("south", "camera", "gate")})
	require.NoError(t, l.forget("north"))
	stats, err := l.file().OutboxStats()
	require.NoError(t, err)
	require.Equal(t, 4, stats.Events, "south's four")
	require.Equal(t, []int{0, 3, 1}, []int{total("north", "camera", "gate"), total("south", "camera", "gate"),
		total("south", "camera", "door")})
	// Who comes back under the name finds nothing.
	require.NoError(t,
		l.registry.Register(t.Context(), principal("north"),
			vms.Registration{ID: "bridge", Cameras: []vms.RegisteredCamera{{ID: "gate"}}}))
	require.Zero(t, total("north", "camera", "gate"))
	require.NoError(t, l.Put(motion("north", "gate", 1), false))
	require.Equal(t, []int{1, 3}, []int{total("north", "camera", "gate"), total("south", "camera", "gate")})
	l.shut(t)
}

// Pages of two cameras of one id, of which one is from before, are in one order and miss nothing.
func TestPagesOverTwoAccounts(t *testing.T) {
	l := openShared(t, t.TempDir())
	defer l.shut(t)
	require.NoError(t,
		l.registry.Register(t.Context(), principal("south"),
			vms.Registration{ID: "bridge", Cameras: []vms.RegisteredCamera{{ID: "gate"}}}))
	for n := range 30 {
		require.NoError(t, l.Put(motion("south", "gate", n), false))
	}
	q := vms.Query{Actors: []vms.Actor{{Type: "camera", ID: "gate", Account: "north"},
		{Type: "camera", ID: "gate", Account: "south"}}, PageSize: 7}
	var at *vms.Cursor
	var got []vms.Event
	for {
		page, err := l.List(q, at)
		require.NoError(t, err)
		require.Equal(t, 60, page.Total)
		got = append(got, page.Events...)
		if at = page.Next; at == nil {
			break
		}
	}
	seen := map[string]bool{}
	for i, ev := range got {
		seen[ev.AccountID+" "+ev.ID] = true
		require.True(t, i == 0 || !ev.StartTimestamp.After(got[i-1].StartTimestamp.Time))
	}
	require.Len(t, seen, 60)
}
