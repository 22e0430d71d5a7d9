package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"vmsbridge/scripts/harness"
	"vmsbridge/storage/postgres/postgrestest"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

// sites are HTTP clients with addresses of their own, as sites have: many connections of one
// address are refused.
func sites(t *testing.T, n int) (all []*http.Client) {
	t.Helper()
	for i := range n {
		from := &net.TCPAddr{IP: net.IPv4(127, 1, byte(i>>8), byte(i))}
		tr := &http.Transport{DialContext: (&net.Dialer{LocalAddr: from, Timeout: 5 * time.Second}).DialContext}
		t.Cleanup(tr.CloseIdleConnections)
		all = append(all, &http.Client{Transport: tr})
	}
	return all
}

func percentiles(took []time.Duration) string {
	slices.Sort(took)
	return fmt.Sprintf("p50 %.1f ms, p99 %.1f ms", took[len(took)/2].Seconds()*1e3,
		took[len(took)*99/100].Seconds()*1e3)
}

// Three nodes with thousands of bridges and their tunnels: what they cost at rest, how long events
// and stills take from node to node, and how all come back when the node that leads is killed,
// while a user goes on asking. VMSCLOUD_BRIDGES says how many; it is scripts/bench uplink -nodes.
func TestFiguresOfNodes(t *testing.T) {
	bridges, err := strconv.Atoi(os.Getenv("VMSCLOUD_BRIDGES"))
	if err != nil {
		t.Skip("takes minutes: run scripts/bench uplink -nodes")
	}
	dir := t.TempDir()
	n := &nodes{t: t, dir: dir, pg: postgrestest.Start(t, postgrestest.Durable),
		data: map[*process]string{}, paths: map[*process]*postgrestest.Path{}}
	n.store = n.pg.Database(t)
	n.args = []string{"--account-cameras", "0", "--print-events=false"}
	account := must(t, "init", "--data", dir, "--store", n.store, "--account", "demo", "--quiet")
	token := func(kind string) string {
		return must(t, "token", "create", "--data", dir, "--store", n.store, "--kind", kind, "--quiet")
	}
	user, secret := token("user"), token("bridge")
	for range 3 {
		began := time.Now()
		n.start()
		t.Logf("a node answers %.2f s after its start", time.Since(began).Seconds())
	}
	leader, others := n.leads()

	clients := sites(t, max(bridges/100, 3))
	began := time.Now()
	var g errgroup.Group
	g.SetLimit(16)
	for i := range bridges {
		g.Go(func() error {
			c, err := client.New(client.Options{BaseURL: n.next(i), Token: client.Token(secret)})
			if err != nil {
				return err
			}
			defer c.Close()
			return c.Register(t.Context(), fleetBridge(i, vms.StatusOnline))
		})
	}
	require.NoError(t, g.Wait())
	t.Logf("%d bridges of %d cameras registered in %.1f s", bridges, fleetCameras, time.Since(began).Seconds())

	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer func() { stop(); running.Wait() }()
	var turn atomic.Int64
	all := make([]*tunnel.Dialer, bridges)
	still := make([]byte, 30_000)
	copy(still, jpeg)
	for i := range all {
		all[i], err = tunnel.New(tunnel.Options{URL: n.next(i), Bridge: fleetBridge(i, "").ID,
			HTTP:  clients[i%len(clients)],
			Token: func(context.Context) (string, error) { return secret, nil },
			Base:  func() string { return n.next(int(turn.Add(1))) },
			Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Vms-Timestamp", vms.At(time.Unix(0, 0)).String())
				_, _ = w.Write(still)
			})})
		require.NoError(t, err)
	}
	standing := func() (up int) {
		for _, d := range all {
			if d.Up() {
				up++
			}
		}
		return up
	}
	began = time.Now()
	for _, d := range all {
		running.Go(func() { _ = d.Run(ctx) })
	}
	next := time.Now()
	harness.Within(t, 5*time.Minute, "all tunnels stand", func() bool {
		up := standing()
		if now := time.Now(); now.After(next) {
			t.Logf("%d tunnels stand after %.0f s", up, now.Sub(began).Seconds())
			next = now.Add(20 * time.Second)
		}
		return up == bridges
	})
	t.Logf("%d tunnels stand after %.1f s", bridges, time.Since(began).Seconds())

	// At rest, once events are made of all that came.
	queries := func() int64 {
		q, err := strconv.ParseInt(n.pg.Value(t, `select sum(xact_commit + xact_rollback)::bigint::text
			from pg_stat_database`), 10, 64)
		require.NoError(t, err)
		return q
	}
	spent := func() (s float64) {
		for _, p := range n.up {
			s += p.seconds()
		}
		return s
	}
	for before, now := int64(1<<62), int64(1<<62-1); now < before*9/10 || now > before; {
		asked := queries()
		pause(ctx, 5*time.Second)
		before, now = now, queries()-asked
	}
	const rest = 30 * time.Second
	asked, took := queries(), spent()
	pause(ctx, rest)
	t.Logf("at rest: %.1f transactions/s at PostgreSQL, %.1f %% of a core for all nodes",
		float64(queries()-asked)/rest.Seconds(), (spent()-took)*100/rest.Seconds())

	// Stills, asked for at the node that leads and at another.
	at := strings.ReplaceAll(vms.At(time.Now()).String(), "+", "%2B")
	for what, base := range map[string]string{"at the node that leads": leader.base, "at another": others[0].base} {
		var took []time.Duration
		for i := range 300 {
			r := authorized(t, base+fmt.Sprintf(vms.PathImage+"?deviceId=camera-%04d-1&type=preview&timestamp__lt=",
				i%bridges)+at, user)
			began := time.Now()
			res, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			body, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			require.NoError(t, err)
			require.Equal(t, 200, res.StatusCode, "%s", body)
			took = append(took, time.Since(began))
		}
		t.Logf("a still of 30 kB, asked for %s: %s", what, percentiles(took))
	}

	// Events, reported at one node and told by another.
	code, made := askJSON(t, others[0].base+"/api/v3.0/eventSubscriptions", user,
		`{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"types":["vms.motionDetectionEvent.v1"]}]}`)
	require.Equal(t, 201, code, made)
	var sub struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(made), &sub))
	res, err := http.DefaultClient.Do(authorized(t,
		others[0].base+"/api/v3.0/eventSubscriptions/"+sub.ID+"/stream", user))
	require.NoError(t, err)
	defer res.Body.Close()
	c := clientOf(t, others[1].base, secret)
	told := make(chan string, 1)
	running.Go(func() {
		for s := bufio.NewScanner(res.Body); s.Scan(); {
			var ev vms.Event
			if text, ok := strings.CutPrefix(s.Text(), "data: "); ok && json.Unmarshal([]byte(text), &ev) == nil {
				select {
				case told <- ev.ID:
				case <-ctx.Done():
					return
				}
			}
		}
	})
	var delays []time.Duration
	for i := range 300 {
		ev := motion(account, fmt.Sprintf("camera-%04d-1", i%bridges), 100+i)
		require.NoError(t, c.Report(t.Context(), ev))
		accepted := time.Now()
		for ev.ID != <-told { // it is the only one
		}
		delays = append(delays, max(time.Since(accepted), 0))
		pause(ctx, time.Duration(50+rand.Intn(300))*time.Millisecond) // streams send five times a second at most
	}
	t.Logf("from an event's acceptance at one node until another tells of it: %s", percentiles(delays))
	_ = res.Body.Close()

	// The node that leads is killed; a user goes on, by a balancer that leaves out who is dead.
	codes := map[string]int{}
	asking, enough := context.WithCancel(ctx)
	var asker sync.WaitGroup
	var slowest time.Duration
	asker.Go(func() {
		for i := 0; asking.Err() == nil; i++ {
			began := time.Now()
			what := "no connection"
			for try := 0; try < 3 && what == "no connection"; try++ { // as a balancer does
				r := authorized(t, n.next(i+try)+"/api/v3.0/cameras?pageSize=10", user).WithContext(asking)
				res, err := http.DefaultClient.Do(r)
				if err == nil {
					what = strconv.Itoa(res.StatusCode)
					if body, _ := io.ReadAll(res.Body); res.StatusCode != 200 {
						t.Logf("a user after %.1f s: %d %s", time.Since(began).Seconds(), res.StatusCode, body)
					}
					_ = res.Body.Close()
				} else if errors.Is(err, context.Canceled) {
					return
				} else {
					t.Logf("a user after %.1f s, try %d: %v", time.Since(began).Seconds(), try, err)
				}
			}
			codes[what]++
			slowest = max(slowest, time.Since(began))
			pause(asking, time.Duration(50+rand.Intn(50))*time.Millisecond)
		}
	})
	harness.Until(t, "the user asks", func() bool { return standing() == bridges })
	began = time.Now()
	require.NoError(t, leader.cmd.Process.Kill())
	n.down(leader)
	harness.Until(t, "tunnels are lost", func() bool { return standing() < bridges })
	harness.Within(t, 5*time.Minute, "all tunnels stand again", func() bool { return standing() == bridges })
	t.Logf("the node that leads is killed: all %d tunnels stand again after %.1f s", bridges,
		time.Since(began).Seconds())
	enough()
	asker.Wait()
	t.Logf("a user meanwhile: %v, the slowest answer %.1f s", codes, slowest.Seconds())
	for _, p := range n.up {
		for line := range strings.Lines(p.logged()) {
			if strings.Contains(line, "refused or cut off") {
				t.Log(strings.TrimSpace(line))
			}
		}
	}
	require.Equal(t, 1, len(codes), "%v", codes)
}
