package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/storage/postgres/postgrestest"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

// get is the status and body of an address that needs no token.
func get(t *testing.T, address string) (int, string) {
	t.Helper()
	res, err := http.Get(address)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(body)
}

// The whole service with all that it knows in PostgreSQL: from init to events, images and sign-in;
// a second one is refused; PostgreSQL dies and comes back; the service dies and goes on from
// another folder, as on another machine. Nothing that was acknowledged is lost.
func TestServiceInPostgreSQL(t *testing.T) {
	t.Parallel()
	pg := postgrestest.Start(t, postgrestest.Durable)
	at, dir := pg.Database(t), t.TempDir()
	data, password := filepath.Join(dir, "one"), filepath.Join(dir, "password")
	require.NoError(t, os.WriteFile(password, []byte("hunter2hunter2\n"), 0o600))
	_, stderr, code := vmscloud(t, "run", "--data", data, "--store", at)
	require.Equal(t, 78, code, stderr)
	require.Contains(t, stderr, "vmscloud init --store")
	account := must(t, "init", "--data", data, "--store", at, "--account", "demo", "--email", "anna@example.org",
		"--password-file", password, "--quiet")
	_, stderr, code = vmscloud(t, "init", "--data", data, "--store", at, "--account", "demo")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "the database holds the account demo")
	token := must(t, "token", "create", "--data", data, "--store", at, "--kind", "bridge", "--quiet")
	require.NoDirExists(t, data, "nothing is kept in the folder")

	p := startProcess(t, data, "--store", at, "--listen", "127.0.0.1:0")
	// it asks the running one
	user := must(t, "token", "create", "--data", data, "--store", at, "--kind", "user", "--quiet")
	_, stderr, code = vmscloud(t, "run", "--data", filepath.Join(dir, "two"), "--store", at, "--listen", "127.0.0.1:0")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "another vmscloud uses this database")
	_, stderr, code = vmscloud(t, "backup", "--data", data, filepath.Join(dir, "backup"))
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "pg_dump")

	c := clientOf(t, p.base, token)
	reg := vms.Registration{ID: "bridge-1", Name: "Gate", ImageToken: "im4ge",
		Cameras: []vms.RegisteredCamera{{ID: "cam-1"}, {ID: "cam-2"}}}
	require.NoError(t, c.Register(t.Context(), reg))
	key := signIn(t, p.base, "anna@example.org", "hunter2hunter2")
	stopTunnel := dialTunnel(t, p.base, token)
	u := clientOf(t, p.base, user)
	harness.Until(t, "an image through the tunnel", func() bool {
		res, err := http.DefaultClient.Do(authorized(t,
			p.base+vms.PathImage+"?deviceId=cam-1&type=preview&timestamp__lt="+
				strings.ReplaceAll(vms.At(began.Add(time.Hour)).String(), "+", "%2B"), user))
		require.NoError(t, err)
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	stopTunnel()

	// PostgreSQL dies while two cameras report, and comes back.
	var mu sync.Mutex
	accepted, refused := map[string]bool{}, 0
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var senders sync.WaitGroup
	for _, cam := range []string{"cam-1", "cam-2"} {
		senders.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				ev := motion(account, cam, n)
				err := c.Report(ctx, ev)
				var final *vms.RefusedError
				if errors.As(err, &final) {
					t.Errorf("refused for good: %v", err)
				}
				mu.Lock()
				if err == nil {
					accepted[ev.ID] = true
				} else if ctx.Err() == nil {
					refused++
				}
				mu.Unlock()
			}
		})
	}
	have := func() int { mu.Lock(); defer mu.Unlock(); return len(accepted) }
	harness.Until(t, "events are accepted", func() bool { return have() >= 20 })
	pg.Kill()
	harness.Until(t, "it says that it cannot store", func() bool {
		code, body := get(t, p.base+"/readyz")
		return code == 503 && strings.Contains(body, "PostgreSQL cannot be reached")
	})
	code, body := get(t, p.base+"/healthz")
	require.Equal(t, 200, code)
	require.Contains(t, body, "PostgreSQL cannot be reached")
	require.NotContains(t, body, "vms-pg", "it names no machine and no path")
	harness.Until(t, "reports are put off", func() bool { mu.Lock(); defer mu.Unlock(); return refused > 0 })
	before := have()
	pg.Again(t)
	harness.Until(t, "it goes on by itself", func() bool { return have() >= before+20 })
	harness.Until(t, "it is ready", func() bool { code, _ := get(t, p.base+"/readyz"); return code == 200 })
	stop()
	senders.Wait()
	listed := func(u *client.Client) {
		t.Helper()
		got := map[string]bool{}
		for _, cam := range []string{"cam-1", "cam-2"} {
			for next := ""; ; {
				page, err := u.Events(t.Context(), ofCamera(cam), next)
				require.NoError(t, err)
				for _, ev := range page.Results {
					require.False(t, got[ev.ID], "%s is listed twice", ev.ID)
					got[ev.ID] = true
				}
				if next = page.NextPageToken; next == "" {
					break
				}
			}
		}
		for id := range accepted {
			require.True(t, got[id], "%s was acknowledged", id)
		}
	}
	listed(u)

	// The service dies, and goes on elsewhere.
	p.kill()
	p = startProcess(t, filepath.Join(dir, "elsewhere"), "--store", at, "--listen", "127.0.0.1:0")
	u = clientOf(t, p.base, user)
	listed(u)
	cams, err := u.Cameras(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, cams.Results, 2)
	status, _, _ := ask(t, "GET", p.base+"/g/aaa/isauth", key, nil)
	require.Equal(t, 200, status, "the session goes on")
	require.Zero(t, p.stop())
	require.Contains(t, must(t, "bridge", "list", "--data", data, "--store", at), "bridge-1")
	require.Contains(t, must(t, "token", "list", "--data", data, "--store", at), "bridge")
	for _, secret := range []string{token, user, "hunter2", "im4ge", at} {
		require.NotContains(t, p.logged(), secret)
	}
}

// authorized is a GET with a token.
func authorized(t *testing.T, address, token string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

// dialTunnel keeps the tunnel of bridge-1, which answers for its cameras, until stop is called.
func dialTunnel(t *testing.T, base, token string) (stop func()) {
	t.Helper()
	d, err := tunnel.New(tunnel.Options{URL: base, Bridge: "bridge-1", Token: func(context.Context) (string, error) {
		return token, nil
	},
		Handler: http.HandlerFunc(camera)})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = d.Run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(stop)
	harness.Until(t, "the tunnel stands", d.Up)
	return stop
}

// A process that another one followed while its connection was cut ends, and says why.
func TestServiceEndsWhenItsDatabaseIsTaken(t *testing.T) {
	t.Parallel()
	pg := postgrestest.Start(t)
	at, dir := pg.Database(t), t.TempDir()
	must(t, "init", "--data", dir, "--store", at, "--account", "demo", "--quiet")
	first := startProcess(t, dir, "--store", at, "--listen", "127.0.0.1:0")
	// The next one comes in a moment in which the first one's connection is cut.
	came := make(chan struct{})
	go func() {
		defer close(came)
		for code := 1; code != 0 && t.Context().Err() == nil; {
			_, _, code = vmscloud(t, "token", "list", "--data", dir+"/none", "--store", at)
		}
	}()
	harness.Until(t, "it ends", func() bool {
		select {
		case <-first.waited:
			return true
		case <-came:
			return false
		default:
			pg.Exec(t, postgrestest.Name(at), `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
				and granted and pid not in (select pid from pg_locks where relation = 'vms_node'::regclass)`)
			return false
		}
	})
	<-came
	require.Equal(t, 1, first.cmd.ProcessState.ExitCode())
	require.Contains(t, first.logged(), "another vmscloud has taken this database over")
}

// What is wrong with --store is said, without its password.
func TestStoreIsRefused(t *testing.T) {
	t.Parallel()
	for address, says := range map[string]string{
		"mysql://u:secret-1@h/d":                          "must have the form postgres://",
		"postgres://u:secret-2@127.0.0.1:1/d":             "PostgreSQL cannot be reached",
		"host=/nowhere user=u password=secret-3 dbname=d": "PostgreSQL cannot be reached",
	} {
		for _, args := range [][]string{{"run"}, {"init", "--account", "a"}, {"token", "list"}, {"bridge", "list"}} {
			out, stderr, code := vmscloud(t, append(args, "--data", t.TempDir(), "--store", address)...)
			require.Equal(t, 1, code, stderr)
			require.Contains(t, stderr, says)
			require.NotContains(t, out+stderr, "secret")
		}
	}
	_, stderr, code := vmscloud(t, "run", "--data", t.TempDir(), "--store", "postgres:///d", "--max-size", "20GB")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "leave them out, and set --keep")
}
