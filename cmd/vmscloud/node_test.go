package main

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/storage/postgres"
	"vmsbridge/storage/postgres/postgrestest"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/identity/identitytest"
	"vmsbridge/uplink/vms"
)

// nodes are processes that serve one database.
type nodes struct {
	t     *testing.T
	pg    *postgrestest.Server
	store string
	dir   string
	args  []string
	all   []*process
	data  map[*process]string
	paths map[*process]*postgrestest.Path // to the database

	mu sync.Mutex // guards what follows
	up []*process // as a balancer sees it
}

func (n *nodes) start() {
	n.t.Helper()
	data := filepath.Join(n.dir, fmt.Sprint("node", len(n.all)))
	path := n.pg.Path(n.t)
	p := startProcess(n.t, data, append([]string{"--store", path.Address(postgrestest.Name(n.store)),
		"--listen", "127.0.0.1:0", "--node-address", "127.0.0.1:0"}, n.args...)...)
	n.all, n.data[p], n.paths[p] = append(n.all, p), data, path
	n.ready(p)
}

// ready waits until a node answers, and has the balancer take it.
func (n *nodes) ready(p *process) {
	n.t.Helper()
	harness.Until(n.t, "a node is ready", func() bool { code, _ := get(n.t, p.base+"/readyz"); return code == 200 })
	n.mu.Lock()
	defer n.mu.Unlock()
	n.up = append(n.up, p)
}

// down has the balancer leave a node out.
func (n *nodes) down(p *process) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.up = slices.DeleteFunc(n.up, func(q *process) bool { return q == p })
}

// next is the base address of one after the other.
func (n *nodes) next(turn int) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.up[turn%len(n.up)].base
}

// terms is how often nodes began to lead, and lost how often one was told that another one does.
func terms(of ...*process) (n int) {
	for _, p := range of {
		n += strings.Count(p.logged(), `"msg":"vmscloud serves"`)
	}
	return n
}

func lost(p *process) int { return strings.Count(p.logged(), "another node leads now") }

// leads is the node that leads, and those that do not.
func (n *nodes) leads() (leader *process, others []*process) {
	n.t.Helper()
	for _, p := range n.up {
		if terms(p) > lost(p) {
			leader = p
		} else {
			others = append(others, p)
		}
	}
	require.NotNil(n.t, leader)
	return leader, others
}

// toldOf is the ids of events that a subscriber was told of.
type toldOf struct {
	once  sync.Once
	began chan struct{} // closed when the first stream stands

	mu  sync.Mutex // guards what follows
	ids []string
	at  map[string][]string // id → of which messages, by which node, when
}

// first are the ids that begin with a prefix, each where it came first, and how often each came.
func (f *toldOf) first(prefix string) (ids []string, times map[string]int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	times = map[string]int{}
	for _, id := range f.ids {
		if strings.HasPrefix(id, prefix) {
			if times[id]++; times[id] == 1 {
				ids = append(ids, id)
			}
		}
	}
	return ids, times
}

// how says as which messages an event was told.
func (f *toldOf) how(id string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.at[id], "; ")
}

// follow is a subscriber that comes again behind its last event, at the next node, until ctx is
// done.
func (n *nodes) follow(ctx context.Context, token, path string, f *toldOf) {
	last := ""
	for turn := 0; ctx.Err() == nil; turn++ {
		patience := 10 * time.Second // of one that is frozen
		if last == "" {              // it would not know where to go on
			patience = harness.Patience
		}
		ctx, cancel := context.WithTimeout(ctx, patience)
		base := n.next(turn)
		r, err := http.NewRequestWithContext(ctx, "GET", base+path, nil)
		if err != nil {
			n.t.Error(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		if last != "" {
			r.Header.Set("Last-Event-ID", last)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			cancel()
			continue
		}
		id, ev := last, vms.Event{}
		f.once.Do(func() { close(f.began) })
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				id = text
			} else if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				_ = json.Unmarshal([]byte(text), &ev)
			} else if lines.Text() == "" && ev.ID != "" { // one that is cut off before counts for nothing
				f.mu.Lock()
				f.ids = append(f.ids, ev.ID)
				f.at[ev.ID] = append(f.at[ev.ID], fmt.Sprint(id, " by ", base, " at ",
					time.Now().UTC().Format(time.StampMicro)))
				f.mu.Unlock()
				last, ev = id, vms.Event{}
			}
		}
		_ = res.Body.Close()
		cancel()
	}
}

// sender reports events of two cameras, each event at one node after the other until it is taken.
type sender struct {
	mu       sync.Mutex          // guards what follows
	sent     map[string][]string // id → at which nodes, when, with what end
	accepted map[string][]string // camera → ids
}

func (s *sender) run(ctx context.Context, n *nodes, account, token string) (wait func()) {
	var all sync.WaitGroup
	for _, cam := range []string{"cam-1", "cam-2"} {
		to := map[string]*client.Client{}
		for _, p := range n.all {
			to[p.base] = clientOf(n.t, p.base, token)
		}
		all.Go(func() {
			for i, turn := 0, 0; ctx.Err() == nil; turn++ {
				ev := motion(account, cam, i)
				ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(time.Millisecond)) // else the service may end it
				ctx, cancel := context.WithTimeout(ctx, 5*time.Second)             // of one that is frozen
				base, since := n.next(turn), time.Now().UTC()
				err := to[base].Report(ctx, ev)
				cancel()
				s.mu.Lock()
				s.sent[ev.ID] = append(s.sent[ev.ID], fmt.Sprint("at ", base, " from ", since.Format(time.StampMicro),
					" for ", time.Since(since), ": ", err))
				if err == nil {
					i++
					s.accepted[cam] = append(s.accepted[cam], ev.ID)
				}
				s.mu.Unlock()
			}
		})
	}
	return all.Wait
}

// more waits until some more events of each camera are taken.
func (s *sender) more(t *testing.T) {
	t.Helper()
	have := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return min(len(s.accepted["cam-1"]), len(s.accepted["cam-2"]))
	}
	before := have()
	harness.Until(t, "events are taken", func() bool { return have() >= before+10 })
}

// motionsAt are the ids of a camera's motions at a node, the oldest first.
func motionsAt(t *testing.T, p *process, token, camera string) (ids []string) {
	t.Helper()
	for next := ""; ; {
		page, err := clientOf(t, p.base, token).Events(t.Context(), ofCamera(camera), next)
		require.NoError(t, err)
		for _, ev := range page.Results {
			ids = append(ids, ev.ID)
		}
		if next = page.NextPageToken; next == "" {
			slices.Reverse(ids)
			return ids
		}
	}
}

// Three nodes, of which the one that leads is frozen and thawed, the next one cut off from the
// database, and that after it stopped, while cameras report and a subscriber follows. Each node
// answers as the others do, at once, and one that is cut off not by rights of before. Nothing that
// was acknowledged is lost or doubled, the subscriber sees all in order, and nobody is mailed
// twice.
func TestNodes(t *testing.T) {
	t.Parallel()
	mail := identitytest.StartSMTP(t, "none", "", "")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	n := &nodes{t: t, dir: dir, pg: postgrestest.Start(t),
		data: map[*process]string{}, paths: map[*process]*postgrestest.Path{}}
	n.store = n.pg.Database(t)
	n.args = []string{"--log-level", "debug", "--drain", "2s", "--letters", write("letters.yaml",
		"mail: {server: "+`"`+mail.Address()+`"`+", security: none, from: cameras@example.org}\n")}
	account := must(t, "init", "--data", dir, "--store", n.store, "--account", "demo", "--email", "anna@example.org",
		"--password-file", write("password", "hunter2hunter2\n"), "--quiet")
	for range 3 {
		n.start()
	}
	a, b, c := n.all[0], n.all[1], n.all[2]
	t.Cleanup(func() {
		for _, p := range n.all {
			if log := p.logged(); t.Failed() {
				t.Logf("a node logged:\n%s", log[max(0, len(log)-30000):])
			}
		}
	})

	// What is changed at one holds at all, at once; commands reach the one that leads from each.
	create := func(data, kind string) string {
		return must(t, "token", "create", "--data", data, "--store", n.store, "--kind", kind, "--name", kind, "--quiet")
	}
	token, user, ended := create(n.data[b], "bridge"), create(n.data[a], "user"), create(n.data[c], "user")
	status := func(p *process, token string) int {
		res, err := http.DefaultClient.Do(authorized(t, p.base+"/api/v3.0/cameras", token))
		require.NoError(t, err)
		defer res.Body.Close()
		return res.StatusCode
	}
	for _, p := range n.all {
		require.Equal(t, 200, status(p, ended))
	}
	must(t, "token", "revoke", "--data", n.data[b], "--store", n.store, strings.Split(ended, "_")[1])
	for _, p := range n.all {
		require.Equal(t, 401, status(p, ended))
	}
	key := signIn(t, b.base, "anna@example.org", "hunter2hunter2")
	letters := 0
	mailed := func(p *process) { // to somebody new, once
		t.Helper()
		letters++
		to := fmt.Sprintf("b%d@example.org", letters)
		code, out, _ := ask(t, "PUT", p.base+"/g/user", key,
			map[string]any{"first_name": "B", "last_name": "C", "email": to})
		require.Equal(t, 200, code, "%v", out)
		require.Equal(t, []string{to}, mail.Next(t).To)
		harness.Until(t, "it is noted that the letter is sent", func() bool {
			return strings.Count(a.logged()+b.logged()+c.logged(), "message sent") == letters
		})
	}
	mailed(c)

	// The tunnel of a bridge at one node is the way for questions at another.
	require.NoError(t, clientOf(t, b.base, token).Register(t.Context(), vms.Registration{ID: "bridge-1",
		Name: "Gate", ImageToken: "im4ge", Cameras: []vms.RegisteredCamera{{ID: "cam-1"}, {ID: "cam-2"}}}))
	stopTunnel := dialTunnel(t, c.base, token)
	defer stopTunnel()
	image := vms.PathImage + "?deviceId=cam-1&type=preview&timestamp__lt=" +
		strings.ReplaceAll(vms.At(began.Add(time.Hour)).String(), "+", "%2B")
	pictured := func(p *process) {
		t.Helper()
		harness.Until(t, "an image through the tunnel", func() bool {
			res, err := http.DefaultClient.Do(authorized(t, p.base+image, user))
			require.NoError(t, err)
			defer res.Body.Close()
			return res.StatusCode == http.StatusOK
		})
	}
	pictured(b)

	code, made := askJSON(t, b.base+"/api/v3.0/eventSubscriptions", user,
		`{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"types":["vms.motionDetectionEvent.v1"]}]}`)
	require.Equal(t, 201, code, made)
	var sub struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(made), &sub))
	following, unfollow := context.WithCancel(t.Context())
	told := &toldOf{began: make(chan struct{}), at: map[string][]string{}}
	var follower sync.WaitGroup
	follower.Go(func() { n.follow(following, user, "/api/v3.0/eventSubscriptions/"+sub.ID+"/stream", told) })
	<-told.began
	defer func() { unfollow(); follower.Wait() }()

	sending, stop := context.WithCancel(t.Context())
	s := &sender{sent: map[string][]string{}, accepted: map[string][]string{}}
	wait := s.run(sending, n, account, token)
	defer func() { stop(); wait() }()
	s.more(t)
	harness.Until(t, "the subscriber is told of something", func() bool {
		ids, _ := told.first("cam-")
		return len(ids) > 0
	})
	frozen, others := n.leads()
	led, wasLost := terms(others...), lost(frozen)
	require.NoError(t, frozen.cmd.Process.Signal(syscall.SIGSTOP))
	n.down(frozen)
	harness.Until(t, "another node leads", func() bool { return terms(others...) > led })
	s.more(t)
	require.NoError(t, frozen.cmd.Process.Signal(syscall.SIGCONT))
	harness.Until(t, "the one before knows", func() bool { return lost(frozen) > wasLost })
	n.ready(frozen)
	s.more(t)
	pictured(frozen)
	mailed(frozen)

	off, others := n.leads()
	led, wasLost = terms(others...), lost(off)
	shut := create(n.data[off], "user")
	require.Equal(t, 200, status(off, shut))
	n.paths[off].Cut()
	harness.Until(t, "it is not ready", func() bool { code, _ := get(t, off.base+"/readyz"); return code == 503 })
	n.down(off)
	harness.Until(t, "yet another one leads", func() bool { return terms(others...) > led })
	harness.Until(t, "a command reaches the one that leads", func() bool {
		_, _, code := vmscloud(t, "token", "revoke", "--data", n.data[others[0]], "--store", n.store,
			strings.Split(shut, "_")[1])
		return code == 0
	})
	harness.Until(t, "the right is gone", func() bool { return status(others[0], shut) == 401 })
	require.Equal(t, 503, status(off, shut), "whom it knew may have lost the right meanwhile")
	s.more(t)
	mailed(others[1])
	n.paths[off].Mend()
	harness.Until(t, "it knows", func() bool { return lost(off) > wasLost })
	n.ready(off)
	require.Equal(t, 401, status(off, shut))
	s.more(t)
	stopped, others := n.leads()
	led = terms(others...)
	require.Zero(t, stopped.stop()) // while it drains, it passes on
	n.down(stopped)
	harness.Until(t, "the last one leads", func() bool { return terms(others...) > led })
	s.more(t)
	mailed(others[0])
	stop()
	wait()

	for cam, want := range s.accepted {
		for _, p := range n.up {
			got := motionsAt(t, p, user, cam)
			if len(got) == len(want)+1 { // one was under way when they stopped
				want = append(want, got[len(want)])
			}
			require.Equal(t, want, got, "none is lost, none is there twice")
		}
		harness.Until(t, "the subscriber is told of all", func() bool {
			ids, _ := told.first(cam + "-")
			return len(ids) >= len(want)
		})
		ids, times := told.first(cam + "-")
		if len(ids) == len(want)+1 { // that which was under way was stored after the lists
			ids = ids[:len(want)]
		}
		require.Equal(t, want, ids, "in order")
		for id, n := range times {
			require.LessOrEqual(t, n, len(s.sent[id]),
				"%s is told more often than it was reported:\ntold %s\nreported %s", id, told.how(id),
				strings.Join(s.sent[id], "; "))
		}
	}
	for _, p := range n.up {
		require.Zero(t, p.stop())
	}
	require.Zero(t, mail.Waiting(), "each letter was sent once")
	for _, secret := range []string{token, user, "hunter2", "im4ge", n.store} {
		require.NotContains(t, a.logged()+b.logged()+c.logged(), secret)
	}
}

// askJSON posts with a token.
func askJSON(t *testing.T, address, token, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", address, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	var text strings.Builder
	_, err = bufio.NewReader(res.Body).WriteTo(&text)
	require.NoError(t, err)
	return res.StatusCode, text.String()
}

// Only nodes reach the port of nodes.
func TestNodesKnowEachOther(t *testing.T) {
	t.Parallel()
	secret := func(b byte) *tls.Config {
		c, err := bothEnds(slices.Repeat([]byte{b}, ed25519.SeedSize))
		require.NoError(t, err)
		return c
	}
	_, err := bothEnds([]byte("short"))
	require.Error(t, err)
	for what, c := range map[string]struct {
		client *tls.Config
		ok     bool
	}{
		"a node":         {secret(1), true},
		"one of before":  {secret(2), false},
		"nobody":         {&tls.Config{InsecureSkipVerify: true}, false},
		"another server": {&tls.Config{}, false},
	} {
		server, end := net.Pipe()
		served := make(chan error, 1)
		go func() {
			s := tls.Server(server, secret(1))
			err := s.Handshake()
			_ = server.Close()
			served <- err
		}()
		err := tls.Client(end, c.client).Handshake()
		_ = end.Close()
		if serverErr := <-served; c.ok {
			require.NoError(t, err, what)
			require.NoError(t, serverErr, what)
		} else {
			require.Error(t, serverErr, what)
		}
	}
}

// What waits for a node that leads is answered here when it is this one in the end: nothing of it
// was sent.
func TestWhatWaitsIsAnsweredHere(t *testing.T) {
	t.Parallel()
	n := &node{log: slog.New(slog.DiscardHandler), lasting: map[*passing]struct{}{}}
	n.there.changed = make(chan struct{})
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = dead.Close() })
	tried := make(chan struct{}, 1000)
	go func() { // ends with the listener
		for {
			c, err := dead.Accept()
			if err != nil {
				return
			}
			_ = c.Close() // before anything can be sent
			tried <- struct{}{}
		}
	}()
	said, err := json.Marshal(note{dead.Addr().String(), make([]byte, ed25519.SeedSize)})
	require.NoError(t, err)
	n.there.follow(postgres.Leader{Epoch: 1, Note: said}, n.log)
	front := httptest.NewServer(n)
	t.Cleanup(front.Close)
	type answer struct {
		code int
		body string
	}
	answers := make(chan answer, 1)
	began := time.Now()
	go func() {
		res, err := http.Post(front.URL+"/echo", "text/plain", strings.NewReader("a report"))
		if err != nil {
			answers <- answer{0, err.Error()}
			return
		}
		defer func() { _ = res.Body.Close() }()
		b, _ := io.ReadAll(res.Body)
		answers <- answer{res.StatusCode, string(b)}
	}()
	<-tried
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	n.here.Store(&term{held: func() bool { return true }, idle: make(chan struct{}), front: echo})
	require.Equal(t, answer{http.StatusOK, "a report"}, <-answers)
	require.Less(t, time.Since(began), leaderWait)
}

// What cannot be is said at once.
func TestNodeAddressIsRefused(t *testing.T) {
	t.Parallel()
	for says, args := range map[string][]string{
		"name it with --store":                 {"--node-address", "127.0.0.1:0"},
		"where the other nodes reach this one": {"--store", "postgres:///d", "--node-address", "0.0.0.0:8471"},
		`"8471" must be the HOST:PORT`:         {"--store", "postgres:///d", "--node-address", "8471"},
		"listen for other nodes":               {"--store", "postgres:///d", "--node-address", "192.0.2.1:8471"},
		"PostgreSQL cannot be reached": {"--store", "postgres://u:secret@127.0.0.1:1/d",
			"--node-address", "127.0.0.1:0"},
	} {
		args = append([]string{"run", "--data", t.TempDir(), "--listen", "127.0.0.1:0"}, args...)
		_, stderr, code := vmscloud(t, args...)
		require.Equal(t, 1, code, stderr)
		require.Contains(t, stderr, says)
		require.NotContains(t, stderr, "secret")
	}
}
