package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/storage/postgres/postgrestest"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

// fleetBridges is how many bridges a fleet has, of one camera each; fleetNodes are its nodes.
const fleetBridges, fleetNodes = 3, 3

// fleet is PostgreSQL with two synchronous standbys, nodes of which one leads, HAProxy before them,
// and bridges, a subscriber and clients of lists and stills.
type fleet struct {
	t        *testing.T
	base     string // HAProxy's
	account  string
	user     string // a token
	servers  map[string]*postgrestest.Server
	primary  string
	database string
	nodes    []*member
	rng      *rand.Rand

	mu      sync.Mutex // guards what follows
	acked   map[string]bool
	last    time.Time       // when one was acknowledged
	gap     time.Duration   // the longest time without
	early   map[string]bool // acknowledged before the subscriber followed
	told    map[string]int
	place   uint64 // of the subscriber's last message
	trouble []string
	stills  map[string]int // by what came of them
	slowest time.Duration  // of lists and stills
}

// member is a vmscloud that is started again whenever it ends, as by a service manager.
type member struct {
	address string
	mu      sync.Mutex // guards what follows
	cmd     *exec.Cmd
	log     bytes.Buffer
}

func (n *member) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.log.Write(b)
}

func (n *member) process() *os.Process {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cmd.Process
}

func startFleet(t *testing.T, seed int64) *fleet {
	proxy, err := exec.LookPath("haproxy")
	if err != nil {
		proxy = "/usr/sbin/haproxy"
	}
	if _, err := os.Stat(proxy); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("haproxy is not installed: run scripts/deps")
		}
		t.Skip("haproxy is not installed: run scripts/deps")
	}
	a := postgrestest.Start(t)
	f := &fleet{t: t, servers: map[string]*postgrestest.Server{"a": a}, primary: "a", acked: map[string]bool{},
		told: map[string]int{}, stills: map[string]int{}, last: time.Now(), rng: rand.New(rand.NewSource(seed))}
	f.database = postgrestest.Name(a.Database(t))
	for _, name := range []string{"b", "c"} {
		f.servers[name] = a.Standby(t, name)
	}
	for _, s := range f.servers { // each has it for when it is the primary
		s.Exec(t, "postgres", "alter system set synchronous_standby_names = 'ANY 1 (a, b, c)'")
		s.Exec(t, "postgres", "select pg_reload_conf()")
	}
	dir := t.TempDir()
	store := postgrestest.Hosts(f.database, f.servers["a"], f.servers["b"], f.servers["c"])
	place := []string{"--data", dir, "--store", store, "--quiet"}
	at := func(args ...string) string { return must(t, append(args, place...)...) }
	f.account = at("init", "--account", "demo")
	f.user = at("token", "create", "--kind", "user")
	var tokens []string
	for range fleetBridges {
		tokens = append(tokens, at("token", "create", "--kind", "bridge"))
	}

	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() {
		stop()
		for _, n := range f.nodes {
			_ = n.process().Kill()
		}
		running.Wait()
		if t.Failed() {
			for i, n := range f.nodes {
				t.Logf("node %d logged:\n%s", i+1, n.log.String()[max(0, n.log.Len()-4000):])
			}
		}
	})
	var config strings.Builder
	port := harness.Port(t)
	f.base = fmt.Sprintf("http://127.0.0.1:%d", port)
	fmt.Fprintf(&config, `defaults
	mode http
	timeout connect 1s
	timeout client 60s
	timeout server 60s
	timeout tunnel 1h
	timeout check 2s
	option redispatch
frontend front
	bind 127.0.0.1:%d
	default_backend nodes
backend nodes
	option httpchk GET /readyz
	default-server check inter 250ms fall 2 rise 1
`, port)
	for i := range fleetNodes {
		n := &member{address: harness.Address(t)}
		f.nodes = append(f.nodes, n)
		fmt.Fprintf(&config, "\tserver node%d %s\n", i+1, n.address)
		began := make(chan struct{})
		running.Go(func() {
			f.keep(ctx, n, began, "run", "--data", filepath.Join(dir, fmt.Sprint("node", i)), "--store", store,
				"--listen", n.address, "--node-address", "127.0.0.1:0", "--public-url", f.base, "--log-format", "json")
		})
		<-began
	}
	file := filepath.Join(dir, "haproxy.cfg")
	require.NoError(t, os.WriteFile(file, []byte(config.String()), 0o600))
	balancer := exec.Command(proxy, "-db", "-q", "-f", file)
	balancer.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, balancer.Start())
	t.Cleanup(func() { _ = balancer.Process.Kill(); _ = balancer.Wait() })
	f.until("a node serves", func() bool { _, ok := f.active(); return ok })
	for i, token := range tokens {
		f.bridge(ctx, &running, fmt.Sprint("bridge-", i), fmt.Sprint("cam-", i), token)
	}
	f.until("all report", func() bool { return f.count() >= 10*fleetBridges })
	f.mu.Lock()
	f.gap = 0 // from here on
	f.mu.Unlock()
	running.Go(func() { f.subscribe(ctx) })
	running.Go(func() { f.look(ctx) })
	return f
}

// keep runs a node until ctx is done.
func (f *fleet) keep(ctx context.Context, n *member, began chan<- struct{}, args ...string) {
	for first := true; ctx.Err() == nil; first = false {
		cmd := program(context.Background(), args...)
		cmd.Stderr, cmd.SysProcAttr = n, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			f.note("start a node: %v", err)
			return
		}
		n.mu.Lock()
		n.cmd = cmd
		n.mu.Unlock()
		if first {
			close(began)
		}
		if ctx.Err() != nil {
			_ = cmd.Process.Kill()
		}
		_ = cmd.Wait()
		pause(ctx, 100*time.Millisecond)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (f *fleet) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trouble = append(f.trouble, fmt.Sprintf(format, args...))
}

func (f *fleet) until(what string, cond func() bool) {
	f.t.Helper()
	harness.Within(f.t, 3*time.Minute, what, cond)
}

// count is how many events were acknowledged.
func (f *fleet) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.acked)
}

// active is a node that answers.
func (f *fleet) active() (*member, bool) {
	return f.which(func(code int, _ string) bool { return code == http.StatusOK })
}

// which is the first node whose /readyz says something.
func (f *fleet) which(says func(code int, text string) bool) (*member, bool) {
	for _, n := range f.nodes {
		res, err := (&http.Client{Timeout: time.Second}).Get("http://" + n.address + "/readyz")
		if err != nil {
			continue
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if says(res.StatusCode, string(text)) {
			return n, true
		}
	}
	return nil, false
}

// bridge reports an event each 50 ms, again until it is acknowledged, and answers through a tunnel.
func (f *fleet) bridge(ctx context.Context, running *sync.WaitGroup, bridge, cam, token string) {
	d, err := tunnel.New(tunnel.Options{URL: f.base, Bridge: bridge,
		Token: func(context.Context) (string, error) { return token, nil },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Vms-Timestamp", vms.At(began).String())
			_, _ = w.Write(jpeg)
		})})
	require.NoError(f.t, err)
	c := clientOf(f.t, f.base, token)
	reg := vms.Registration{ID: bridge, ImageToken: "im4ge", Cameras: []vms.RegisteredCamera{{ID: cam}}}
	f.until("a bridge registers", func() bool { return c.Register(ctx, reg) == nil })
	running.Go(func() { _ = d.Run(ctx) })
	running.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			ev := motion(f.account, cam, n)
			for ctx.Err() == nil {
				err := c.Report(ctx, ev)
				var refused *vms.RefusedError
				if errors.As(err, &refused) {
					f.note("%s was refused for good: %v", ev.ID, err)
				}
				if err == nil || refused != nil {
					f.acknowledged(ev.ID)
					break
				}
				pause(ctx, 100*time.Millisecond)
			}
			pause(ctx, 50*time.Millisecond)
		}
	})
}

func (f *fleet) acknowledged(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gap = max(f.gap, time.Since(f.last))
	f.acked[id], f.last = true, time.Now()
}

// subscribe follows all events, going on behind the last one whenever its stream ends.
func (f *fleet) subscribe(ctx context.Context) {
	made, at := "", ""
	for ctx.Err() == nil {
		if made == "" {
			made = f.subscription(ctx)
		} else {
			at = f.follow(ctx, made, at)
		}
		pause(ctx, 100*time.Millisecond)
	}
}

func (f *fleet) ask(ctx context.Context, method, path, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, f.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+f.user)
	r.Header.Set("Content-Type", "application/json")
	return http.DefaultClient.Do(r)
}

func (f *fleet) subscription(ctx context.Context) string {
	res, err := f.ask(ctx, "POST", "/api/v3.0/eventSubscriptions",
		`{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"types":["`+vms.TypeMotion+`"]}]}`)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	var sub struct{ ID string }
	if json.NewDecoder(res.Body).Decode(&sub) != nil || res.StatusCode != http.StatusCreated {
		return ""
	}
	return sub.ID
}

// follow reads a stream behind the message at, and returns its last one.
func (f *fleet) follow(ctx context.Context, sub, at string) string {
	res, err := f.ask(ctx, "GET", "/api/v3.0/eventSubscriptions/"+sub+"/stream?lastEventId="+url.QueryEscape(at), "")
	if err != nil {
		return at
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusNotFound {
		f.note("the subscription is gone")
	}
	if res.StatusCode != http.StatusOK {
		return at
	}
	f.mu.Lock()
	early := maps.Clone(f.acked)
	f.mu.Unlock()
	for s := bufio.NewScanner(res.Body); s.Scan(); {
		field, value, _ := strings.Cut(s.Text(), ": ")
		switch field {
		case "":
			if strings.Contains(value, "no longer kept") {
				f.note("the subscriber is told that events are lost to it")
			}
		case "id":
			at = value
			_, text, _ := strings.Cut(value, "-")
			place, err := strconv.ParseUint(text, 10, 64)
			f.mu.Lock()
			if err != nil || place <= f.place {
				f.trouble = append(f.trouble, fmt.Sprintf("the subscriber has %s behind place %d", value, f.place))
			}
			f.place = place
			if f.early == nil { // it has an id to go on behind
				f.early = early
			}
			f.mu.Unlock()
		case "data":
			var ev vms.Event
			if json.Unmarshal([]byte(value), &ev) == nil {
				f.mu.Lock()
				f.told[ev.ID]++
				f.mu.Unlock()
			}
		}
	}
	return at
}

// look asks for stills and lists.
func (f *fleet) look(ctx context.Context) {
	at := strings.ReplaceAll(vms.At(began.Add(time.Hour)).String(), "+", "%2B")
	for n := 0; ctx.Err() == nil; n++ {
		for what, path := range map[string]string{
			"still": vms.PathImage + fmt.Sprintf("?deviceId=cam-%d&type=preview&timestamp__lt=", n%fleetBridges) + at,
			"list": fmt.Sprintf("/api/v3.0/events?actor=camera:cam-%d&type__in="+vms.TypeMotion+
				"&startTimestamp__gte=2026-11-21T00:00:00.000%%2B00:00", n%fleetBridges),
		} {
			asked := time.Now()
			limit, cancel := context.WithTimeout(ctx, time.Minute)
			res, err := f.ask(limit, "GET", path, "")
			came := "refused"
			if err == nil {
				_, err = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				if err == nil && res.StatusCode == http.StatusOK {
					came = "came"
				}
			}
			if cancel(); ctx.Err() != nil {
				return
			}
			f.mu.Lock()
			f.stills[what+" "+came]++
			f.slowest = max(f.slowest, time.Since(asked))
			f.mu.Unlock()
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// check holds what is stored and told against what was acknowledged, and says it as a row.
func (f *fleet) check(what string) {
	f.t.Helper()
	f.mu.Lock()
	acked := maps.Clone(f.acked)
	f.mu.Unlock()
	var listed map[string]int
	f.until("the list of all events after "+what, func() (ok bool) { listed, ok = f.list(); return ok })
	lost, doubled := 0, 0
	for id := range acked {
		if listed[id] == 0 {
			lost++
			f.note("%s was acknowledged and is lost", id)
		}
	}
	for id, n := range listed {
		if n > 1 {
			doubled++
			f.note("%s is there %d times", id, n)
		}
	}
	require.Zero(f.t, lost+doubled, "after %s: %d lost, %d doubled", what, lost, doubled)
	f.until("the subscriber hears of all after "+what, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		for id := range acked {
			if f.told[id] == 0 && !f.early[id] {
				return false
			}
		}
		return true
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.say("| %s | %d | %.1f s | %d | %d | %d | %d came, %d refused | %.1f s |", what, len(acked), f.gap.Seconds(), lost,
		doubled, len(f.trouble), f.stills["still came"], f.stills["still refused"], f.slowest.Seconds())
	require.Empty(f.t, f.trouble, "after %s", what)
	f.gap, f.slowest = 0, 0
}

// list is how often each event is listed.
func (f *fleet) list() (listed map[string]int, ok bool) {
	listed = map[string]int{}
	c, err := client.New(client.Options{BaseURL: f.base, Token: client.Token(f.user)})
	require.NoError(f.t, err)
	defer c.Close()
	for i := range fleetBridges {
		for next := ""; ; {
			page, err := c.Events(f.t.Context(), ofCamera(fmt.Sprint("cam-", i)), next)
			if err != nil {
				return nil, false
			}
			for _, ev := range page.Results {
				listed[ev.ID]++
			}
			if next = page.NextPageToken; next == "" {
				break
			}
		}
	}
	return listed, true
}

func (f *fleet) say(format string, args ...any) {
	if os.Getenv("FLEET_COMMANDS") != "" {
		fmt.Printf(time.Now().Format(time.TimeOnly)+"  "+format+"\n", args...)
		return
	}
	f.t.Logf(format, args...)
}

// standbys are the names of the servers that are not the primary.
func (f *fleet) standbys() (names []string) {
	for name := range f.servers {
		if name != f.primary {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// breaks are what can be done to a fleet, by name.
var breaks = map[string]struct {
	about string
	do    func(*fleet)
}{
	"node": {"kill the node that leads; another one takes its place", func(f *fleet) {
		_ = f.serving().process().Kill()
	}},
	"stop": {"stop the node that leads as systemd does", func(f *fleet) {
		_ = f.serving().process().Signal(syscall.SIGTERM)
	}},
	"freeze": {"freeze the node that leads for three seconds", func(f *fleet) {
		p := f.serving().process()
		_ = p.Signal(syscall.SIGSTOP)
		pause(f.t.Context(), 3*time.Second)
		_ = p.Signal(syscall.SIGCONT)
	}},
	"cut": {"cut the connections of all nodes to the database", func(f *fleet) {
		f.servers[f.primary].Exec(f.t, f.database, `select pg_terminate_backend(pid) from pg_stat_activity
			where application_name = 'vmscloud'`)
	}},
	"standby": {"kill a standby of PostgreSQL, and start it again", func(f *fleet) {
		s := f.servers[f.standbys()[f.rng.Intn(2)]]
		s.Kill()
		f.goesOn("with one standby")
		s.Again(f.t)
	}},
	"standbys": {"kill both standbys: what is reported waits, and is told so; then start them again", func(f *fleet) {
		for _, name := range f.standbys() {
			f.servers[name].Kill()
		}
		f.until("it says why", func() bool {
			_, ok := f.which(func(_ int, text string) bool { return strings.Contains(text, "standbys") })
			return ok
		})
		before := f.count()
		pause(f.t.Context(), time.Second)
		if f.count() != before {
			f.note("events were acknowledged without a standby")
		}
		for _, name := range f.standbys() {
			f.servers[name].Again(f.t)
		}
	}},
	"primary": {"cut a standby off, kill the primary, promote the standby that has most", func(f *fleet) {
		names, old := f.standbys(), f.primary
		f.servers[names[f.rng.Intn(2)]].Detach(f.t) // a kill alone loses nothing on one machine
		f.goesOn("with one standby cut off")
		f.servers[old].Kill()
		received := func(name string) int64 {
			n, err := strconv.ParseInt(f.servers[name].Value(f.t,
				"select pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')::bigint::text"), 10, 64)
			require.NoError(f.t, err)
			return n
		}
		next, other := names[0], names[1]
		if received(other) > received(next) {
			next, other = other, next
		}
		f.servers[next].Promote(f.t)
		f.primary = next
		f.servers[other].Follow(f.t, f.servers[next], other)
		f.goesOn("with the new primary")
		f.servers[old].Rejoin(f.t, f.servers[next], old)
	}},
}

// serving is the node that leads, once one does and answers.
func (f *fleet) serving() (n *member) {
	f.until("a node leads", func() bool {
		_, ok := f.active()
		for _, n = range f.nodes {
			if ok && n.leads() {
				return true
			}
		}
		return false
	})
	return n
}

// leads reports whether a node leads, as far as it knows.
func (n *member) leads() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	last := func(msg string) int { return strings.LastIndex(n.log.String(), `"msg":"`+msg) }
	return last("vmscloud serves") > max(last("vmscloud is a node"), last("another node leads now"))
}

// goesOn waits until more events are acknowledged.
func (f *fleet) goesOn(what string) {
	f.t.Helper()
	before := f.count()
	f.until("it goes on "+what, func() bool { return f.count() >= before+5*fleetBridges })
}

// through breaks something, waits until all goes on, and checks.
func (f *fleet) through(what string) {
	f.t.Helper()
	f.say("%s: %s", what, breaks[what].about)
	breaks[what].do(f)
	f.goesOn("after " + what)
	f.serving()
	f.until("both standbys follow after "+what, func() bool {
		return f.servers[f.primary].Value(f.t, `select count(*)::text from pg_stat_replication where state = 'streaming'
			and sync_state = 'quorum'`) == "2"
	})
	f.check(what)
}

// Whatever dies of a fleet, what was acknowledged is there once, its subscriber hears of all in
// order, and who asks for a still or a list has an answer. With TORTURE_FOR, as by
// scripts/torture fleet, it goes on with breaks by chance; with FLEET_COMMANDS, as by
// scripts/fleet, with those that a person asks for.
func TestFleet(t *testing.T) {
	seed, _ := strconv.ParseInt(os.Getenv("TORTURE_SEED"), 10, 64)
	f := startFleet(t, seed)
	f.say("| broken | acknowledged so far | longest gap | lost | doubled | other trouble | stills | slowest answer |")
	if path := os.Getenv("FLEET_COMMANDS"); path != "" {
		f.obey(path)
		return
	}
	if long, err := time.ParseDuration(os.Getenv("TORTURE_FOR")); err == nil {
		names := slices.Sorted(maps.Keys(breaks))
		for until := time.Now().Add(long); time.Now().Before(until); {
			f.through(names[f.rng.Intn(len(names))])
		}
		return
	}
	for _, what := range []string{"node", "primary", "stop"} {
		f.through(what)
	}
}

// obey does what a person writes into a pipe.
func (f *fleet) obey(path string) {
	pipe, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(f.t, err)
	defer pipe.Close()
	ctx, stop := signal.NotifyContext(f.t.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { _, _ = pipe.WriteString("end\n") })
	f.say("%s serves: HAProxy before %d nodes, PostgreSQL with two standbys, %d bridges", f.base, len(f.nodes),
		fleetBridges)
	for s := bufio.NewScanner(pipe); s.Scan(); {
		switch what := strings.TrimSpace(s.Text()); {
		case what == "end":
			return
		case breaks[what].do == nil:
			f.say("there is no %q: %s", what, strings.Join(slices.Sorted(maps.Keys(breaks)), ", "))
		default:
			f.through(what)
		}
	}
}
