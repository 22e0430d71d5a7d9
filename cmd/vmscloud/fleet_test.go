package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

// fleetCameras is how many each bridge of a fleet has.
const fleetCameras = 10

func fleetBridge(n int, status string) vms.Registration {
	reg := vms.Registration{ID: fmt.Sprintf("bridge-%04d", n), Name: "A bridge", ImageToken: "im4ge-t0ken",
		Cameras: []vms.RegisteredCamera{}}
	for i := range fleetCameras {
		reg.Cameras = append(reg.Cameras, vms.RegisteredCamera{ID: fmt.Sprintf("camera-%04d-%d", n, i),
			Name: "A camera", ConnectionStatus: status})
	}
	return reg
}

// seconds is the processor time that the process has taken.
func (p *process) seconds() float64 {
	p.t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	require.NoError(p.t, err)
	f := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	user, err1 := strconv.ParseFloat(f[11], 64)
	system, err2 := strconv.ParseFloat(f[12], 64)
	require.NoError(p.t, err1)
	require.NoError(p.t, err2)
	return (user + system) / 100 // ticks
}

// Many bridges, of several accounts with the same ids: each account lists all of its own and only
// that, page by page; a client that goes takes its request along, and SIGTERM ends the service
// under load. With VMSCLOUD_FLEET=5000, as by scripts/bench uplink -fleet, it takes the figures of
// uplink/BENCH.md.
func TestManyBridges(t *testing.T) {
	bridges, many := 40, os.Getenv("VMSCLOUD_FLEET")
	if many != "" {
		var err error
		bridges, err = strconv.Atoi(many)
		require.NoError(t, err)
	} else {
		t.Parallel()
	}
	large := max(bridges/5, 1) // of account a; all others are b's, but no more than an account may have
	c := newCloud(t, "--account-cameras", "0")
	count := map[string]int{"a": large, "b": bridges - large}
	for name, n := range count {
		b := clientOf(t, c.p.base, c.bridges[name])
		for i := range n {
			require.NoError(t, b.Register(t.Context(), fleetBridge(i, vms.StatusOnline)))
		}
	}
	figure := func(what string, times int, f func(int)) {
		t.Helper()
		began, before := time.Now(), c.p.seconds()
		for i := range times {
			f(i)
		}
		t.Logf("%-60s %8.3f ms of processor, %8.3f ms", what, (c.p.seconds()-before)*1e3/float64(times),
			time.Since(began).Seconds()*1e3/float64(times))
	}
	b := clientOf(t, c.p.base, c.bridges["b"])
	figure("a renewal", 40*bridges/10,
		func(i int) { require.NoError(t, b.Register(t.Context(), fleetBridge(i%count["b"], vms.StatusOnline))) })
	token := map[string]string{"a": c.bearer("asu@a.org"), "b": c.bearer("asu@b.org")}
	for name, n := range count {
		seen := map[string]bool{}
		at, pages := "", 0
		figure(fmt.Sprintf("all of %d cameras, 500 a page, %d pages", n*fleetCameras, (n*fleetCameras+500)/500), 1,
			func(int) {
				for {
					code, body := c.api(token[name], "GET", "/api/v3.0/cameras?include=status&pageSize=500&pageToken="+at,
						"")
					require.Equal(t, 200, code, body)
					var page vms.PageOf[vms.Camera]
					require.NoError(t, json.Unmarshal([]byte(body), &page))
					require.Equal(t, n*fleetCameras+1, page.TotalSize)
					for _, cam := range page.Results {
						require.Equal(t, c.accounts[name], cam.AccountID)
						require.False(t, seen[cam.ID])
						seen[cam.ID] = true
					}
					if at, pages = page.NextPageToken, pages+1; at == "" {
						break
					}
				}
			})
		require.Len(t, seen, n*fleetCameras+1)
		figure(fmt.Sprintf("GET cameras?pageSize=100 of %d", len(seen)), 100,
			func(int) { c.api(token[name], "GET", "/api/v3.0/cameras?pageSize=100", "") })
		figure(fmt.Sprintf("GET cameras/{id} of %d", len(seen)), 100,
			func(int) { c.api(token[name], "GET", "/api/v3.0/cameras/camera-0000-5", "") })
		figure(fmt.Sprintf("GET /g/device/list of %d devices", len(seen)+n+1), 5, func(int) {
			var rows [][]any
			require.NoError(t, json.NewDecoder(c.stream(t.Context(), name, "/g/device/list")).Decode(&rows))
			require.Len(t, rows, len(seen)+n+1)
			i := slices.IndexFunc(rows, func(row []any) bool { return row[1] == "bridge-0000" })
			require.Len(t, rows[i][4], fleetCameras, "the cameras of a bridge")
		})
	}

	// Who sees a part of a large account gets that part, for what it costs.
	own := must(t, "token", "create", "--data", c.data, "--kind", "bridge", "--account", c.accounts["b"], "--quiet")
	require.NoError(t, clientOf(t, c.p.base, own).Register(t.Context(), fleetBridge(9999, vms.StatusOnline)))
	code, out, _ := c.as("asu@b.org", "PUT", "/g/user",
		map[string]any{"first_name": "R", "last_name": "U", "email": "ru@b.org"})
	require.Equal(t, 200, code, "%v", out)
	code, out, _ = c.as("asu@b.org", "POST", "/g/user",
		map[string]any{"id": out["id"],
			"camera_access": [][]string{{"M", "camera-0000-5", "R"}, {"M", "camera-0001-5", "R"}}})
	require.Equal(t, 200, code, "%v", out)
	c.begin("ru@b.org")
	for who, few := range map[string]struct {
		token string
		n     int
	}{"a bridge's own token": {own, fleetCameras}, "a user with two cameras": {c.bearer("ru@b.org"), 2}} {
		figure("GET cameras of "+who, 100, func(int) {
			code, body := c.api(few.token, "GET", "/api/v3.0/cameras?pageSize=100", "")
			require.Equal(t, 200, code, body)
			var page vms.PageOf[vms.Camera]
			require.NoError(t, json.Unmarshal([]byte(body), &page))
			require.Equal(t, []int{few.n, few.n}, []int{page.TotalSize, len(page.Results)}, who)
		})
	}

	// Clients that go as soon as they have asked leave nothing behind.
	before := c.p.seconds()
	for range 50 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		r, err := http.NewRequestWithContext(ctx, "GET",
			c.p.base+"/g/device/list?A="+url.QueryEscape(c.sessions["asu@b.org"]), nil)
		require.NoError(t, err)
		if res, err := http.DefaultClient.Do(r); err == nil {
			_ = res.Body.Close()
		}
		cancel()
	}
	t.Logf("50 lists whose clients go after 5 ms: %.0f ms of processor", (c.p.seconds()-before)*1e3)

	// It stops in time while clients ask for all that it has, over and over.
	ctx, cancel := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for i := range 8 {
		load.Go(func() {
			for ctx.Err() == nil {
				r, err := http.NewRequestWithContext(ctx, "GET",
					c.p.base+"/g/device/list?A="+url.QueryEscape(c.sessions["asu@"+string("ab"[i%2])+".org"]), nil)
				if err != nil {
					return
				}
				res, err := http.DefaultClient.Do(r)
				if err != nil {
					return // it has stopped
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		})
	}
	require.Eventually(t, func() bool { return c.p.seconds() > before+0.1 }, time.Minute, time.Millisecond)
	began := time.Now()
	require.Zero(t, c.p.stop())
	t.Logf("SIGTERM under load: %.2f s", time.Since(began).Seconds())
	if many != "" {
		require.Less(t, time.Since(began), 5*time.Second)
	}
	cancel()
	load.Wait()
}

// stream is what a user's session gets from /g/.
func (c *cloud) stream(ctx context.Context, name, path string) io.Reader {
	c.t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET",
		c.p.base+path+"?A="+url.QueryEscape(c.sessions["asu@"+name+".org"]), nil)
	require.NoError(c.t, err)
	res, err := http.DefaultClient.Do(r)
	require.NoError(c.t, err)
	c.t.Cleanup(func() { _ = res.Body.Close() })
	require.Equal(c.t, 200, res.StatusCode)
	return res.Body
}

// BenchmarkRenewal is what the handler of a registration takes that says nothing new, of one bridge
// of many: finding out whose the token is, reading the body, looking at what is known, the answer.
// The connection and its HTTP are not in it. It reports the processor time of all threads.
func BenchmarkRenewal(b *testing.B) {
	bridges, _ := strconv.Atoi(cmp.Or(os.Getenv("VMSCLOUD_FLEET"), "100"))
	w := newWatched(b)
	ids := w.door.ids
	a := model.NewAccount()
	a.ID, a.Status = "acc-1", model.Texts{model.StatusActive}
	_, err := ids.CreateAccount(a)
	require.NoError(b, err)
	_, token, err := ids.CreateToken(model.Token{Kind: identity.KindBridge, AccountID: a.ID})
	require.NoError(b, err)
	api, err := server.New(server.Options{Events: w.ledger, Cameras: w.door.Registry, Auth: ids, Bridges: w.door,
		NotFound: journal.ErrNotFound})
	require.NoError(b, err)
	register := func(body []byte) {
		r, err := http.NewRequestWithContext(b.Context(), "POST", "/api/v3.0/bridges:register", bytes.NewReader(body))
		require.NoError(b, err)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		if api.ServeHTTP(answer, r); answer.Code != 200 {
			b.Fatal(answer.Body.String())
		}
	}
	bodies := make([][]byte, bridges)
	for n := range bodies {
		bodies[n], err = json.Marshal(fleetBridge(n, vms.StatusOnline))
		require.NoError(b, err)
		register(bodies[n])
	}
	spent := func() time.Duration {
		var u syscall.Rusage
		require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	n, before := 0, spent()
	for b.Loop() {
		register(bodies[n%bridges])
		n++
	}
	b.ReportMetric(float64((spent()-before).Microseconds())/float64(n), "cpu-µs/op")
}
