package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/cmd/cli"
	"vmsbridge/scripts/harness"
	"vmsbridge/storage/postgres/postgrestest"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/server/openapitest"
	"vmsbridge/uplink/vms"
)

// asProgram makes the test binary be vmscloud.
const asProgram = "VMSCLOUD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	code := openapitest.Run(m)
	postgrestest.Stop()
	os.Exit(code)
}

func program(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	// With the race detector a program sleeps for a second before it ends, unless it is told
	// otherwise.
	cmd.Env = append(os.Environ(), asProgram+"=1", "GORACE=atexit_sleep_ms=20 "+os.Getenv("GORACE"))
	return cmd
}

// vmscloud runs a command to its end.
func vmscloud(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := program(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// must is the trimmed output of a command that succeeds.
func must(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, code := vmscloud(t, args...)
	require.Zero(t, code, "vmscloud %v: %s", args, errs)
	return strings.TrimSpace(out)
}

// process is a running vmscloud.
type process struct {
	t       *testing.T
	cmd     *exec.Cmd
	base    string
	stdout  io.Closer
	waited  chan struct{}
	mu      sync.Mutex // guards out and log
	out     []string
	log     bytes.Buffer
	exitErr error
}

func startProcess(t *testing.T, data string, args ...string) *process {
	t.Helper()
	p := &process{t: t, waited: make(chan struct{})}
	p.cmd = program(context.Background(),
		append([]string{"run", "--data", data, "--log-format", "json", "--print-events"}, args...)...)
	stdout, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.stdout = stdout
	stderr, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	serving := make(chan string, 1)
	var readers sync.WaitGroup
	readers.Go(func() {
		for s := bufio.NewScanner(stdout); s.Scan(); {
			p.mu.Lock()
			p.out = append(p.out, s.Text())
			p.mu.Unlock()
		}
	})
	readers.Go(func() {
		for s := bufio.NewScanner(stderr); s.Scan(); {
			p.mu.Lock()
			p.log.WriteString(s.Text() + "\n")
			p.mu.Unlock()
			var line struct{ Msg, Address string }
			if json.Unmarshal(s.Bytes(), &line) == nil &&
				(line.Msg == "vmscloud serves" || line.Msg == "vmscloud is a node") {
				select {
				case serving <- line.Address:
				default: // a node says so when it leads
				}
			}
		}
	})
	go func() {
		readers.Wait()
		p.exitErr = p.cmd.Wait()
		close(p.waited)
	}()
	t.Cleanup(func() { p.kill() })
	select {
	case address := <-serving:
		p.base = "http://" + address
	case <-p.waited:
		t.Fatalf("it ended at once: %v\n%s", p.exitErr, p.log.String())
	case <-time.After(2 * time.Minute):
		t.Fatal("it does not serve")
	}
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.waited
}

// stop ends it by a signal and returns its exit code.
func (p *process) stop() int {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	_ = p.cmd.Process.Signal(syscall.SIGINT) // of the same stop, as a terminal sends it
	select {
	case <-p.waited:
	case <-time.After(2 * time.Minute):
		p.t.Fatal("it does not stop")
	}
	return p.cmd.ProcessState.ExitCode()
}

// bridgeOnline ends the line of a bridge that the service hears of for the first time.
const bridgeOnline = "  vms.deviceCloudStatusUpdateEvent.v1  ongoing   online"

// lines are those that it printed of what cameras saw and how they are: those of the account and
// user that init makes, of devices that come, and of bridges that are there, come when they come.
func (p *process) lines() (out []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.out {
		if !strings.Contains(line, "  vms.account") && !strings.Contains(line, "  vms.user") &&
			!strings.Contains(line, "  vms.deviceCreation") &&
			!strings.HasSuffix(line, bridgeOnline) {
			out = append(out, line)
		}
	}
	return out
}

func (p *process) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

func clientOf(t *testing.T, base, token string) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{BaseURL: base, Token: client.Token(token)})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

var began = time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)

func motion(account, camera string, n int) vms.Event {
	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(began.Add(time.Duration(n) * time.Second)), Span: true,
		AccountID: account,
		ActorID:   camera, ActorAccountID: account, ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion}
	ev.SetData(vms.CreatorDetails("", vms.CreatorInfo{ID: "b", Vendor: "v"}))
	ev.ID = ev.NaturalID()
	return ev
}

func ofCamera(id string) vms.Query {
	return vms.Query{Actors: []vms.Actor{{Type: vms.ActorCamera, ID: id}}, Types: []string{vms.TypeMotion},
		PageSize: 500}
}

// The way of the README: init, tokens, run; a bridge registers, reports, and its events are listed
// and printed.
func TestFromInitToEvents(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	account := must(t, "init", "--data", data, "--account", "demo", "--quiet")
	bridge := must(t, "token", "create", "--data", data, "--kind", "bridge", "--name", "gate", "--quiet")
	user := must(t, "token", "create", "--data", data, "--kind", "user", "--quiet")
	info, err := os.Stat(data)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	p := startProcess(t, data, "--listen", "127.0.0.1:0", "--public-url", "https://vms.example/")
	b, u := clientOf(t, p.base, bridge), clientOf(t, p.base, user)
	var refused *vms.RefusedError
	require.ErrorAs(t, b.Report(t.Context(), motion(account, "cam-1", 0)), &refused, "the camera is not registered yet")
	require.True(t, refused.UnknownActor())
	require.NoError(t,
		b.Register(t.Context(), vms.Registration{ID: "bridge-1", Name: "Gate", ImageToken: "im4ge-t0ken",
			Cameras: []vms.RegisteredCamera{{ID: "cam-1", Name: "Gate\x1b[31m camera"}}}))
	ev := motion(account, "cam-1", 0)
	require.NoError(t, b.Report(t.Context(), ev))
	require.NoError(t, b.Report(t.Context(), ev), "again, as after a lost answer")
	ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(4200 * time.Millisecond))
	require.NoError(t, b.Report(t.Context(), ev))
	require.NoError(t, b.Report(t.Context(), ev))
	page, err := u.Events(t.Context(), ofCamera("cam-1"), "")
	require.NoError(t, err)
	require.Len(t, page.Results, 1)
	require.Equal(t, ev.EndTimestamp, page.Results[0].EndTimestamp)

	status := motion(account, "cam-1", 9)
	status.Type, status.CreatorID = vms.TypeDeviceStatus, vms.CreatorHealth
	status.SetData(vms.DeviceCloudStatusUpdate("", vms.StatusDeviceOffline))
	require.NoError(t, b.Report(t.Context(), status))
	cameras, err := u.Cameras(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, vms.StatusDeviceOffline, cameras.Results[0].Status.ConnectionStatus)

	const image = "https://vms.example/api/v3.0/media/recordedImage.jpeg?deviceId=cam-1&type=preview&timestamp__lt=2026-11-21T07%3A00%3A00.500%2B00%3A00"
	require.Eventually(t, func() bool { return len(p.lines()) == 3 }, time.Minute, 10*time.Millisecond)
	require.Eventually(t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.ContainsFunc(p.out, func(line string) bool {
			return strings.HasSuffix(line, "  Gate"+bridgeOnline)
		})
	}, time.Minute, 10*time.Millisecond, "the bridge is there")
	require.Equal(t, []string{
		"2026-11-21T07:00:00.000+00:00  Gate?[31m camera  vms.motionDetectionEvent.v1  ongoing   " + image,
		"2026-11-21T07:00:00.000+00:00  Gate?[31m camera  vms.motionDetectionEvent.v1  4.2s      " + image,
		"2026-11-21T07:00:09.000+00:00  Gate?[31m camera  vms.deviceCloudStatusUpdateEvent.v1  ongoing   deviceOffline",
	}, p.lines())

	// A token that may see another camera only, made and ended while it runs.
	other := must(t, "token", "create", "--data", data, "--kind", "user", "--name", "guest", "--camera", "cam-2",
		"--scope", "vms.read", "--expires", "1h", "--quiet")
	_, err = clientOf(t, p.base, other).Events(t.Context(), ofCamera("cam-1"), "")
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 404, refused.Code)
	list := must(t, "token", "list", "--data", data)
	require.NotContains(t, list, other)
	var id string
	for line := range strings.Lines(list) {
		if strings.Contains(line, "guest") {
			id, _, _ = strings.Cut(line, " ")
			require.Contains(t, line, "cam-2")
		}
	}
	must(t, "token", "revoke", "--data", data, id)
	var unauthorized *vms.UnauthorizedError
	_, err = clientOf(t, p.base, other).User(t.Context())
	require.ErrorAs(t, err, &unauthorized)
	_, errs, code := vmscloud(t, "token", "revoke", "--data", data, "nobody")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "vmscloud token list")

	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 401, "/": 200,
		"/nothing": 404} {
		res, err := http.Get(p.base + path)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, want, res.StatusCode, path)
	}
	req, err := http.NewRequest("GET", p.base+"/metrics", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+user)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	metrics, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Contains(t, string(metrics), `vmsbridge_server_requests_total{code="200",endpoint="/api/v3.0/events"}`)

	require.Zero(t, p.stop())
	for _, secret := range []string{bridge, user, other, "im4ge-t0ken"} {
		require.NotContains(t, p.logged(), secret)
		require.NotContains(t, strings.Join(p.lines(), "\n"), secret)
	}
	require.NotContains(t, p.logged(), `"level":"ERROR"`)
}

// The operator's way out where a bridge's credential was lost: the program runs, or it does not.
func TestABridgeIsReleased(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	must(t, "init", "--data", data, "--account", "demo", "--quiet")
	first := must(t, "token", "create", "--data", data, "--kind", "bridge", "--name", "first", "--quiet")
	second := must(t, "token", "create", "--data", data, "--kind", "bridge", "--name", "second", "--quiet")
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	as := func(token string) error {
		return clientOf(t, p.base, token).Register(t.Context(),
			vms.Registration{ID: "bridge-1", Cameras: []vms.RegisteredCamera{}})
	}
	require.NoError(t, as(first))
	require.ErrorContains(t, as(second), `"first"`)
	list := must(t, "bridge", "list", "--data", data)
	require.Contains(t, list, "first")
	require.Contains(t, list, "online")
	require.Contains(t, list, "0 of 0 online")
	require.Contains(t, list, time.Now().UTC().Format("2006-01-02T15:"), "last seen")
	require.Contains(t, must(t, "bridge", "list", "--data", data, "--json"), `"camerasOnline":0,"lastSeen":"20`)
	must(t, "bridge", "release", "--data", data, "bridge-1")
	require.NoError(t, as(second))
	require.ErrorContains(t, as(first), "vmscloud bridge release bridge-1")
	require.Zero(t, p.stop())
	must(t, "bridge", "release", "--data", data, "bridge-1")
	list = must(t, "bridge", "list", "--data", data)
	require.Contains(t, list, "nobody")
	require.Contains(t, list, "unknown", "no service looks")
	p = startProcess(t, data, "--listen", "127.0.0.1:0")
	require.NoError(t, as(first))
}

// Whatever it said it had, it has after a kill -9, and what a client sends again is still one
// event.
func TestKillAndRestart(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	account := must(t, "init", "--data", data, "--account", "demo", "--quiet")
	token := must(t, "token", "create", "--data", data, "--kind", "bridge", "--quiet")
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	address := strings.TrimPrefix(p.base, "http://")
	c := clientOf(t, p.base, token)
	reg := vms.Registration{ID: "bridge-1", Cameras: []vms.RegisteredCamera{{ID: "cam-1"}, {ID: "cam-2"},
		{ID: "cam-3"}, {ID: "cam-4"}}}
	require.NoError(t, c.Register(t.Context(), reg))
	firstPage, err := c.Events(t.Context(), vms.Query{Actors: []vms.Actor{{Type: vms.ActorCamera, ID: "cam-1"}},
		Types: []string{vms.TypeMotion}, PageSize: 1}, "")
	require.NoError(t, err)
	require.Zero(t, firstPage.TotalSize)

	accepted := map[string]bool{}
	sent := 0
	for round := range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var senders sync.WaitGroup
		for cam := range 4 {
			senders.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					ev := motion(account, fmt.Sprintf("cam-%d", cam+1), 10000*round+n)
					err := c.Report(ctx, ev)
					mu.Lock()
					sent++
					if err == nil {
						accepted[ev.ID] = true
					}
					mu.Unlock()
					if err != nil {
						return
					}
				}
			})
		}
		want := len(accepted) + 40
		require.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(accepted) >= want }, time.Minute,
			time.Millisecond)
		p.kill()
		senders.Wait()
		cancel()
		p = startProcess(t, data, "--listen", address)
	}
	have := map[string]bool{}
	for cam := range 4 {
		for ev, err := range c.AllEvents(t.Context(), ofCamera(fmt.Sprintf("cam-%d", cam+1))) {
			require.NoError(t, err, "cameras are known without a new registration")
			require.False(t, have[ev.ID])
			have[ev.ID] = true
		}
	}
	for id := range accepted {
		require.True(t, have[id], "%s was accepted and is gone", id)
	}
	require.LessOrEqual(t, len(have), sent)
	ev := motion(account, "cam-1", 0)
	require.NoError(t, c.Report(t.Context(), ev))
	require.Zero(t, p.stop())
}

// Somebody who looked at the printed events and left does not take the service along.
func TestReaderOfEventsLeaves(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	account := must(t, "init", "--data", data, "--account", "demo", "--quiet")
	token := must(t, "token", "create", "--data", data, "--kind", "bridge", "--quiet")
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	c := clientOf(t, p.base, token)
	require.NoError(t,
		c.Register(t.Context(), vms.Registration{ID: "b", Cameras: []vms.RegisteredCamera{{ID: "cam-1"}}}))
	require.NoError(t, p.stdout.Close())
	for n := range 5 {
		require.NoError(t, c.Report(t.Context(), motion(account, "cam-1", n)))
	}
	require.Zero(t, p.stop())
}

// A page token of before a restart is good after it.
func TestPageTokensOutliveARestart(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	account := must(t, "init", "--data", data, "--account", "demo", "--id", "acc-7", "--quiet")
	require.Equal(t, "acc-7", account)
	token := must(t, "token", "create", "--data", data, "--kind", "bridge", "--quiet")
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	c := clientOf(t, p.base, token)
	require.NoError(t,
		c.Register(t.Context(), vms.Registration{ID: "b", Cameras: []vms.RegisteredCamera{{ID: "cam-1"}}}))
	for n := range 3 {
		require.NoError(t, c.Report(t.Context(), motion(account, "cam-1", n)))
	}
	q := ofCamera("cam-1")
	q.PageSize = 2
	page, err := c.Events(t.Context(), q, "")
	require.NoError(t, err)
	require.Zero(t, p.stop())
	p = startProcess(t, data, "--listen", "127.0.0.1:0")
	page, err = clientOf(t, p.base, token).Events(t.Context(), q, page.NextPageToken)
	require.NoError(t, err)
	require.Len(t, page.Results, 1)
}

// Who may not look into the folder is not told that it holds no account.
func TestAnOrdinaryUserIsToldHow(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	must(t, "init", "--data", data, "--account", "demo")
	at := dataFlag{Data: data}
	for name, ask := range map[string]func() error{
		"a list":   storeFlag{dataFlag: at}.exists,
		"a backup": func() error { return backupCmd{dataFlag: at}.write(io.Discard) },
		"fsck":     func() error { _, err := fsckCmd{dataFlag: at}.look(&cli.Progress{}); return err },
	} {
		var err error
		harness.AsNobody(t, func() { err = ask() })
		require.ErrorContains(t, err, "sudo -u vmscloud vmscloud", name)
	}
}

func TestCommandsRefuse(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	empty := filepath.Join(t.TempDir(), "data")
	_, errs, code := vmscloud(t, "init", "--data", empty, "--account", "x", "--id", "a/b")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "cannot be an id")
	for name, c := range map[string]struct {
		args  []string
		words string
	}{
		"run, init failed":    {[]string{"run", "--data", empty}, "vmscloud init"},
		"token, init failed":  {[]string{"token", "create", "--data", empty, "--kind", "user"}, "vmscloud init"},
		"run without init":    {[]string{"run", "--data", data}, "vmscloud init"},
		"token without init":  {[]string{"token", "create", "--data", data, "--kind", "user"}, "vmscloud init"},
		"fsck without init":   {[]string{"fsck", "--data", data}, "holds no account"},
		"init without a name": {[]string{"init", "--data", data}, "--account"},
		"no such command":     {[]string{"begin"}, "begin"},
	} {
		_, errs, code := vmscloud(t, c.args...)
		require.NotZero(t, code, name)
		require.Contains(t, errs, c.words, name)
		require.NotContains(t, errs, "goroutine", name)
		if strings.Contains(name, "without init") {
			require.Equal(t, cli.Config, code, name)
		}
	}
	for _, c := range [][]string{{"run"}, {"token", "create"}} {
		require.NotContains(t, must(t, append([]string{"help"}, c...)...), "%%")
	}
	must(t, "init", "--data", data, "--account", "demo")
	text := must(t, "token", "create", "--data", data, "--kind", "user")
	require.Contains(t, text, "not shown again")
	for name, c := range map[string]struct {
		args  []string
		words string
	}{
		"second init":   {[]string{"init", "--data", data, "--account", "again"}, "nothing was changed"},
		"unknown kind":  {[]string{"token", "create", "--data", data, "--kind", "admin"}, "bridge"},
		"unknown scope": {[]string{"token", "create", "--data", data, "--kind", "user", "--scope", "x"}, "vms.read"},
		"unknown account": {[]string{"token", "create", "--data", data, "--kind", "user", "--account", "none"},
			"there is no account"},
		"negative expiry": {[]string{"token", "create", "--data", data, "--kind", "user", "--expires=-1h"},
			"negative"},
		"cert without key": {[]string{"run", "--data", data, "--tls-cert", os.Args[0]}, "belong together"},
		"bad address":      {[]string{"run", "--data", data, "--listen", "nowhere:x"}, "--listen"},
		"no port":          {[]string{"run", "--data", data, "--listen", "80"}, "write --listen HOST:PORT"},
		"unknown user": {[]string{"user", "link", "--data", data, "nobody"},
			"vmscloud: there is no user \"nobody\": list them with: vmscloud user list\n"},
		"bad public url": {[]string{"run", "--data", data, "--listen", "127.0.0.1:0", "--public-url", "vms.example"},
			"public address"},
	} {
		_, errs, code := vmscloud(t, c.args...)
		require.NotZero(t, code, name)
		require.Contains(t, errs, c.words, name)
	}
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	_, errs, _ = vmscloud(t, "user", "unlock", "--data", data, "nobody")
	require.Equal(t, "vmscloud: there is no user \"nobody\": list them with: vmscloud user list\n", errs)
	_, errs, code = vmscloud(t, "run", "--data", data, "--listen", "127.0.0.1:0")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "in use")
	require.Zero(t, p.stop())
	require.Contains(t, must(t, "version"), "vmscloud ")
}
