package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"vmsbridge/cmd/cli"
	"vmsbridge/scripts/harness"
	"vmsbridge/storage/database"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/postgres/postgrestest"
	"vmsbridge/uplink/vms"
)

// filled is the folder of a service that has served, with n more events of cam-1, and the tokens of
// its bridge and user.
func filled(t *testing.T, n int) (data, bridge, user string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	account := must(t, "init", "--data", data, "--account", "demo", "--quiet")
	bridge = must(t, "token", "create", "--data", data, "--kind", "bridge", "--quiet")
	user = must(t, "token", "create", "--data", data, "--kind", "user", "--quiet")
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	c := clientOf(t, p.base, bridge)
	require.NoError(t,
		c.Register(t.Context(), vms.Registration{ID: "bridge-1", Name: "Gate", ImageToken: "im4ge",
			Cameras: []vms.RegisteredCamera{{ID: "cam-1"}}}))
	goesOn := motion(account, "cam-1", -10)
	require.NoError(t, c.Report(t.Context(), goesOn))
	require.Zero(t, p.stop())
	j, err := journal.Open(filepath.Join(data, eventsFile), journal.Options{})
	require.NoError(t, err)
	list := make([]vms.Event, n)
	for i := range list {
		ev := motion(account, "cam-1", i)
		ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(time.Second))
		ev.ID, ev.ActorID, ev.Owner = account+"/"+ev.ID, account+"/"+ev.ActorID, "bridge:bridge-1"
		list[i] = ev
	}
	require.NoError(t, j.PutAll(list, false))
	require.NoError(t, j.SetMeta("mark/x", []byte("7")))
	require.NoError(t, j.Close())
	return data, bridge, user
}

// serves looks whether a service at a place has what filled put there.
func serves(t *testing.T, n int, bridge, user string, args ...string) {
	t.Helper()
	p := startProcess(t, t.TempDir(), append(args, "--listen", "127.0.0.1:0")...)
	u := clientOf(t, p.base, user)
	q := ofCamera("cam-1")
	q.Types, q.PageSize = []string{vms.TypeMotion}, 1
	page, err := u.Events(t.Context(), q, "")
	require.NoError(t, err)
	require.Equal(t, n+1, page.TotalSize)
	cams, err := u.Cameras(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, cams.Results, 1)
	require.NoError(t,
		clientOf(t, p.base, bridge).Register(t.Context(),
			vms.Registration{ID: "bridge-1", Name: "Gate", Cameras: []vms.RegisteredCamera{{ID: "cam-1"}}}))
	require.Zero(t, p.stop())
}

// From a folder into PostgreSQL, and back into another folder: all is there at each place, and no
// service runs at one that was left.
func TestMoveThereAndBack(t *testing.T) {
	t.Parallel()
	const n = 2*walkAtOnce + 7
	pg := postgrestest.Shared(t)
	at, back := pg.Database(t), filepath.Join(t.TempDir(), "back")
	data, bridge, user := filled(t, n)
	out := must(t, "move", "--from", data, "--to", at)
	require.Regexp(t, `Moved and compared: \d+ records and \d+ events`, out)
	for _, args := range [][]string{{"run"}, {"token", "list"}, {"move", "--from", data, "--to", pg.Database(t)}} {
		if args[0] != "move" {
			args = append(args, "--data", data)
		}
		_, stderr, code := vmscloud(t, args...)
		require.Equal(t, 1, code, args)
		require.Contains(t, stderr, "was moved away on")
	}
	must(t, "move", "--from", data, "--to", at) // once more: nothing is left to do
	serves(t, n, bridge, user, "--store", at)

	must(t, "move", "--from", at, "--to", back)
	_, stderr, code := vmscloud(t, "run", "--data", t.TempDir(), "--store", at, "--listen", "127.0.0.1:0")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "the database was moved away on")
	j, err := journal.Open(filepath.Join(back, eventsFile), journal.Options{})
	require.NoError(t, err)
	mark, err := j.Meta("mark/x")
	require.NoError(t, err)
	require.Equal(t, "7", string(mark))
	require.NoError(t, j.Close())
	serves(t, n, bridge, user, "--data", back)
	require.Contains(t, must(t, "fsck", "--data", back), "all is in order")
}

// A move that is killed goes on when it is called again, and meanwhile no service runs at either
// place.
func TestMoveIsKilled(t *testing.T) {
	t.Parallel()
	const n = walkAtOnce + 7
	pg := postgrestest.Shared(t)
	at := pg.Database(t)
	data, bridge, user := filled(t, n)
	made, err := placeOf(at).openRaw() // which makes the tables
	require.NoError(t, err)
	require.NoError(t, made.close())
	hold, err := pgx.Connect(t.Context(), at)
	require.NoError(t, err)
	defer hold.Close(context.WithoutCancel(t.Context()))
	_, err = hold.Exec(t.Context(), "begin; lock table vms_events in share mode")
	require.NoError(t, err)
	cmd := program(t.Context(), "move", "--from", data, "--to", at)
	require.NoError(t, cmd.Start())
	harness.Until(t, "it waits before the events", func() bool {
		var waits bool
		require.NoError(t, hold.QueryRow(t.Context(),
			"select exists (select from pg_locks where relation = 'vms_events'::regclass and not granted)").Scan(
			&waits))
		return waits
	})
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.NoError(t, hold.Close(t.Context()))
	for _, place := range [][]string{{"--data", data}, {"--data", t.TempDir(), "--store", at}} {
		_, stderr, code := vmscloud(t, append([]string{"run"}, place...)...)
		require.Equal(t, 1, code)
		require.Regexp(t, "was moved away on|has not ended", stderr)
	}
	must(t, "move", "--from", data, "--to", at)
	serves(t, n, bridge, user, "--store", at)
}

// What a move refuses, it leaves as it is.
func TestMoveRefuses(t *testing.T) {
	t.Parallel()
	pg := postgrestest.Shared(t)
	at, full := pg.Database(t), pg.Database(t)
	data := filepath.Join(t.TempDir(), "data")
	must(t, "init", "--data", data, "--account", "demo", "--quiet")
	must(t, "init", "--data", t.TempDir(), "--store", full, "--account", "other", "--quiet")
	running := filepath.Join(t.TempDir(), "data")
	must(t, "init", "--data", running, "--account", "demo", "--quiet")
	p := startProcess(t, running, "--listen", "127.0.0.1:0")
	for says, c := range map[string]struct {
		from, to string
		code     int
	}{
		"one must be a folder":          {data, filepath.Join(t.TempDir(), "x"), cli.Usage},
		"one must be a folder, and":     {at, full, cli.Usage},
		"the database holds something":  {data, full, 1},
		"holds no account yet":          {filepath.Join(t.TempDir(), "none"), at, 78},
		"the database holds no account": {at, filepath.Join(t.TempDir(), "y"), 78},
		"is in use by a vmscloud":       {running, at, 1},
		data + " holds something":       {full, data, 1},
	} {
		_, stderr, code := vmscloud(t, "move", "--from", c.from, "--to", c.to)
		require.Equal(t, c.code, code, stderr)
		require.Contains(t, stderr, says)
	}
	require.Zero(t, p.stop())
	must(t, "token", "list", "--data", data)
	must(t, "token", "list", "--data", t.TempDir(), "--store", full)
	_, err := os.Stat(filepath.Join(data, noteFile))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A copy that differs in one record or one event is found.
func TestMoveCompares(t *testing.T) {
	t.Parallel()
	pg := postgrestest.Shared(t)
	data, _, _ := filled(t, 3)
	for name, spoil := range map[string]func(*raw) error{
		"a record is another": func(r *raw) error {
			return r.stores["identity"].Update(func(tx database.Tx) error {
				return tx.Bucket("meta").Put([]byte("version"), []byte("1"))
			})
		},
		"a record more": func(r *raw) error {
			return r.stores["registry"].Update(func(tx database.Tx) error {
				return tx.Bucket("keys").Put([]byte("k"), nil)
			})
		},
		"a number is given again": func(r *raw) error {
			return r.stores["identity"].Update(func(tx database.Tx) error { return tx.Bucket("audit").SetSequence(1) })
		},
		"an event less": func(r *raw) error {
			n, err := r.events.Forget(func(a vms.Actor) bool { return a.Type == vms.ActorCamera })
			if n == 0 {
				err = errors.New("there was none")
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := move{progress: cli.NewProgress(io.Discard)}
			var err error
			m.from, err = placeOf(data).openRaw()
			require.NoError(t, err)
			m.to, err = placeOf(pg.Database(t)).openRaw()
			require.NoError(t, err)
			defer func() { require.NoError(t, m.close()) }()
			for _, part := range parts {
				require.NoError(t, copyRecords(m.from.stores[part], m.to.stores[part]))
			}
			require.NoError(t, m.copyEvents(&moved{}))
			require.NoError(t, m.compare())
			require.NoError(t, spoil(m.to))
			require.ErrorContains(t, m.compare(), "differ", fmt.Sprint(name))
		})
	}
}
