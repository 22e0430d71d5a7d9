package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/cmd/cli"
	"vmsbridge/scripts/harness"
)

// watcher opens a stream of account a's events; open says whether it still is, and
// leave closes it.
func (c *cloud) watcher(bearer string) (open *atomic.Bool, leave func(), code int) {
	c.t.Helper()
	_, made := c.api(bearer, "POST", "/api/v3.0/eventSubscriptions",
		`{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"actors":["camera:cam-a"]}]}`)
	var sub struct{ ID string }
	require.NoError(c.t, json.Unmarshal([]byte(made), &sub), made)
	res, err := http.DefaultClient.Do(authorized(c.t,
		c.p.base+"/api/v3.0/eventSubscriptions/"+sub.ID+"/stream", bearer))
	require.NoError(c.t, err)
	open = &atomic.Bool{}
	open.Store(true)
	var reading sync.WaitGroup
	reading.Go(func() {
		for s := bufio.NewScanner(res.Body); s.Scan(); {
			continue
		}
		open.Store(false)
	})
	leave = func() { _ = res.Body.Close(); reading.Wait() }
	c.t.Cleanup(leave)
	return open, leave, res.StatusCode
}

// A node that is told to stop says first that it is not ready, while its streams go on and reports
// are taken; it takes no new streams, and ends those that there are one by one.
func TestDrain(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "--drain", "16s")
	bearer := c.bearer("asu@a.org")
	var list []*atomic.Bool
	var leaves []func()
	for range 4 {
		open, leave, code := c.watcher(bearer)
		require.Equal(t, 200, code)
		list, leaves = append(list, open), append(leaves, leave)
	}
	opened := func() (n int) {
		for _, open := range list {
			if open.Load() {
				n++
			}
		}
		return n
	}
	require.NoError(t, c.p.cmd.Process.Signal(syscall.SIGTERM))
	harness.Until(t, "it is not ready", func() bool { code, _ := get(t, c.p.base+"/readyz"); return code == 503 })
	_, body := get(t, c.p.base+"/readyz")
	require.Contains(t, body, "about to stop")
	require.Equal(t, 4, opened(), "streams go on until a balancer has seen that")
	_, _, code := c.watcher(bearer)
	require.Equal(t, 503, code)
	require.NoError(t, clientOf(t, c.p.base, c.bridges["a"]).Report(t.Context(), motion(c.accounts["a"], "cam-a", 1)))
	harness.Until(t, "one ends before the others", func() bool { n := opened(); return n > 0 && n < 4 })
	for _, leave := range leaves {
		leave() // nobody waits for those that have gone
	}
	<-c.p.waited
	require.Zero(t, c.p.cmd.ProcessState.ExitCode(), c.p.logged())
	require.NotContains(t, c.p.logged(), cutOff)
}

// Where nobody has a stream or a tunnel, nobody waits; who waits may be told not to.
func TestDrainEndsEarly(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "--drain", "1h")
	require.Zero(t, c.p.stop())
	c.start("--drain", "1h")
	_, _, code := c.watcher(c.bearer("asu@a.org"))
	require.Equal(t, 200, code)
	require.NoError(t, c.p.cmd.Process.Signal(syscall.SIGTERM))
	harness.Until(t, "it drains", func() bool { code, _ := get(t, c.p.base+"/readyz"); return code == 503 })
	harness.Until(t, "another signal ends it", func() bool {
		_ = c.p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-c.p.waited:
			return true
		case <-time.After(cli.Same / 4):
			return false
		}
	})
	require.Equal(t, cli.Aborted, c.p.cmd.ProcessState.ExitCode())
	require.Contains(t, c.p.logged(), "aborted")
}
