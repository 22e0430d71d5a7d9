// Package e2e runs the bridge's way to the service, journal, delivery and client, against vmscloud
// as a process, with a link that misbehaves between the two.
package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/server/openapitest"
	"vmsbridge/uplink/vms"
)

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "vmscloud-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "vmscloud")
	if err := harness.Build(filepath.Dir(binary), false, "vmscloud"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := openapitest.Run(m)
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// cloud is a running vmscloud with one account and a bridge's token.
type cloud struct {
	data       string
	url, token string
	cmd        *exec.Cmd
	done       chan struct{}
	mu         sync.Mutex  // guards what follows
	warned     string      // what it logged as warnings
	known      [64][]state // of each camera, by the number of the event: what its printed lines told
	trouble    []string
}

func startCloud(t testing.TB, args ...string) *cloud {
	t.Helper()
	s := newCloud(t)
	s.serve(t, "127.0.0.1:0", args...)
	return s
}

// newCloud makes the account and the token of one that does not run yet.
func newCloud(t testing.TB) *cloud {
	t.Helper()
	s := &cloud{data: t.TempDir(), done: make(chan struct{})}
	s.command(t, "init", "--account", "demo", "--id", "acc-1", "--quiet")
	s.token = s.command(t, "token", "create", "--kind", "bridge", "--quiet")
	return s
}

// command runs a command of vmscloud on its data, and is what that prints.
func (s *cloud) command(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command(binary, append(args, "--data", s.data)...).Output()
	require.NoError(t, err, "vmscloud %v", args)
	return strings.TrimSpace(string(out))
}

// serve starts it. It is killed at the end of the test.
func (s *cloud) serve(t testing.TB, listen string, args ...string) {
	t.Helper()
	s.cmd = exec.Command(binary, append([]string{"run", "--data", s.data, "--log-format", "json", "--listen", listen},
		args...)...)
	stderr, err := s.cmd.StderrPipe()
	require.NoError(t, err)
	stdout, err := s.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, s.cmd.Start())
	serving := make(chan string, 1)
	var readers sync.WaitGroup
	readers.Go(func() {
		for sc := bufio.NewScanner(stdout); sc.Scan(); {
			s.note(sc.Text())
		}
	})
	readers.Go(func() {
		for sc := bufio.NewScanner(stderr); sc.Scan(); {
			var line struct{ Level, Msg, Address string }
			switch {
			case json.Unmarshal(sc.Bytes(), &line) != nil:
			case line.Msg == "vmscloud serves":
				serving <- line.Address
			case line.Level == "WARN":
				s.mu.Lock()
				s.warned += sc.Text() + "\n"
				s.mu.Unlock()
			}
		}
		_, _ = io.Copy(io.Discard, stderr)
	})
	go func() { readers.Wait(); _ = s.cmd.Wait(); close(s.done) }()
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); <-s.done })
	select {
	case address := <-serving:
		s.url = "http://" + address
	case <-time.After(2 * time.Minute):
		t.Fatal("vmscloud does not serve")
	}
}

// state is what is known of an event.
type state uint8

const (
	begun state = 1 + iota
	ended
)

// note takes in a line that vmscloud prints of an event: each begins once and ends once, and the
// events of a camera begin in their order.
func (s *cloud) note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := strings.Fields(line)
	if len(f) > 2 && slices.ContainsFunc([]string{"vms.account", "vms.user", "vms.deviceCreation", "vms.deviceUpdate"},
		func(kind string) bool { return strings.HasPrefix(f[2], kind) }) {
		return // of its making, and of what registers
	}
	if strings.HasPrefix(line[len(f[0]):], "  bridge-") && strings.HasSuffix(line, "  online") {
		return // the bridge is there
	}
	start, err := vms.ParseTime(f[0])
	cam, bad := strconv.Atoi(strings.TrimPrefix(f[1], "cam"))
	if err != nil || bad != nil || len(f) < 4 {
		s.trouble = append(s.trouble, "not a line of an event: "+line)
		return
	}
	n := int(start.Sub(epoch) / (2 * time.Second))
	for len(s.known[cam]) <= n {
		s.known[cam] = append(s.known[cam], 0)
	}
	was, now := s.known[cam][n], ended
	if f[3] == "ongoing" {
		now = begun
	}
	switch {
	case was >= now:
		s.trouble = append(s.trouble, "told twice: "+line)
	case was == 0 && n < len(s.known[cam])-1:
		s.trouble = append(s.trouble, "out of order: "+line)
	}
	s.known[cam][n] = now
}

// bridge is the bridge's half: a journal and what reports from it.
type bridge struct {
	journal  *journal.Journal
	client   *client.Client
	reporter *delivery.Engine
	cameras  int
}

func newBridge(t testing.TB, cameras int, co client.Options, ro delivery.Options) *bridge {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	c, err := client.New(co)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	b := &bridge{journal: j, client: c, cameras: cameras}
	b.reporter = engine(j, c, b.register, ro)
	return b
}

// engine takes events from a journal to the service, as the bridge does.
func engine(j *journal.Journal, c client.Service, register func(context.Context) error,
	o delivery.Options) *delivery.Engine {
	if o.AtOnce = c.AtOnce; o.AuthPause == 0 {
		o.AuthPause = 30 * time.Second
	}
	return delivery.New(j, &client.Sink{Service: c, Register: register, Log: slog.New(slog.DiscardHandler)}, o)
}

func (b *bridge) register(ctx context.Context) error {
	r := vms.Registration{ID: "bridge-1", Cameras: []vms.RegisteredCamera{}}
	for i := range b.cameras {
		r.Cameras = append(r.Cameras, vms.RegisteredCamera{ID: camera(i)})
	}
	return b.client.Register(ctx, r)
}

// run reports until the end of the test, or stop.
func (b *bridge) run(t testing.TB) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = b.reporter.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

func (b *bridge) waiting(t testing.TB) int {
	t.Helper()
	s, err := b.journal.OutboxStats()
	require.NoError(t, err)
	return s.Waiting
}

func camera(i int) string { return fmt.Sprintf("cam%d", i) }

var epoch = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// motion is the n-th event of a camera, as the bridge makes them: some 1.3 kB.
func motion(cam, n int) vms.Event {
	start := epoch.Add(time.Duration(n) * 2 * time.Second)
	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(start), EndTimestamp: vms.Ptr(start.Add(time.Second)),
		Span:      true,
		AccountID: "acc-1", ActorID: camera(cam), ActorAccountID: "acc-1", ActorType: vms.ActorCamera,
		CreatorID: vms.CreatorMotion}
	items := []vms.Data{vms.CreatorDetails(vms.CreatorMotion, vms.CreatorInfo{ID: "bridge-1", Vendor: "vmsbridge"})}
	for i := range 3 {
		box, err := vms.MakeData(map[string]any{"type": vms.SchemaObject, "creatorId": vms.CreatorMotion,
			"objectId":  fmt.Sprintf("%s:%d-%d", camera(cam), n, i),
			"timestamp": vms.At(start), "boundingBox": []float64{0.11, 0.22, 0.33, 0.44}})
		if err != nil {
			panic(err)
		}
		items = append(items, box)
	}
	ev.SetData(items...)
	ev.ID = ev.NaturalID()
	return ev
}
