package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vmsbridge/agent/health"
	"vmsbridge/scripts/harness"
)

// manager is a service manager's socket, as systemd has it.
type manager struct {
	t    *testing.T
	path string
	mu   sync.Mutex
	said []string
}

func newManager(t *testing.T) *manager {
	t.Helper()
	dir, err := os.MkdirTemp("", "notify-") // a test's own folder may be too long for a socket's address
	require.NoError(t, err)
	m := &manager{t: t, path: filepath.Join(dir, "notify")}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.path, Net: "unixgram"})
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for buf := make([]byte, 4096); ; {
			n, err := conn.Read(buf)
			if err != nil {
				return
			}
			m.mu.Lock()
			m.said = append(m.said, string(buf[:n]))
			m.mu.Unlock()
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-done; _ = os.RemoveAll(dir) })
	return m
}

func (m *manager) all() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.said...)
}

// count is how many messages begin with a line.
func (m *manager) count(line string) (n int) {
	for _, s := range m.all() {
		if first, _, _ := strings.Cut(s, "\n"); first == line {
			n++
		}
	}
	return n
}

// bridge is the real program on a folder of its own.
type bridge struct {
	t    *testing.T
	dir  string
	file string // its configuration
	addr string // of its local API
	log  *lines
	cmd  *exec.Cmd
	done chan error
}

// newBridge prepares one. %[1]q in yaml is the data folder, %[2]q the address to listen on.
func newBridge(t *testing.T, yaml string) *bridge {
	t.Helper()
	ports, err := freePorts(1)
	require.NoError(t, err)
	b := &bridge{t: t, dir: t.TempDir(), addr: ports[0], log: &lines{}}
	b.file = filepath.Join(b.dir, "vmsbridge.yaml")
	b.write(yaml)
	return b
}

func (b *bridge) data() string { return filepath.Join(b.dir, "data") }

func (b *bridge) write(yaml string) {
	b.t.Helper()
	require.NoError(b.t,
		os.WriteFile(b.file,
			[]byte(strings.NewReplacer("%DATA", b.data(), "%LISTEN", b.addr, "%DIR", b.dir).Replace(yaml)), 0o600))
}

func (b *bridge) start(env ...string) {
	b.t.Helper()
	b.cmd = process(b.t, "run", "--config", b.file)
	b.cmd.Env = append(b.cmd.Env, env...)
	b.cmd.Stderr = b.log
	require.NoError(b.t, b.cmd.Start())
	b.done = make(chan error, 1)
	go func() { b.done <- b.cmd.Wait() }()
	b.t.Cleanup(func() { _ = b.cmd.Process.Kill() })
	harness.Until(b.t, "the bridge to answer",
		func() bool { return answers(b.t.Context(), "http://"+b.addr+"/readyz") })
}

// stop ends it in order and tells how long that took.
func (b *bridge) stop() time.Duration {
	b.t.Helper()
	began := time.Now()
	require.NoError(b.t, b.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-b.done:
		require.NoError(b.t, err, b.log.String())
	case <-time.After(time.Minute):
		b.t.Fatalf("did not stop:\n%s", b.log.String())
	}
	return time.Since(began)
}

const quietYAML = "bridge: {data: %DATA}\napi: {listen: '%LISTEN'}\nstills: {max_size: 8MiB, segment_size: 1MiB}\n"

// The protocol of Type=notify with a watchdog, and a reload in between.
func TestTheServiceManagerIsTold(t *testing.T) {
	m, b := newManager(t), newBridge(t, quietYAML)
	b.start("NOTIFY_SOCKET="+m.path, "WATCHDOG_USEC=600000")
	harness.Until(t, "READY=1", func() bool { return m.count("READY=1") == 1 })
	_, err := os.Stat(filepath.Join(b.data(), "journal.db"))
	require.NoError(t, err, "the stores are open by then")
	fed := m.count("WATCHDOG=1")
	harness.Until(t, "the watchdog to be fed", func() bool { return m.count("WATCHDOG=1") > fed+3 })

	before := monotonic(t)
	require.NoError(t, b.cmd.Process.Signal(syscall.SIGHUP))
	harness.Until(t, "the reload", func() bool { return m.count("RELOADING=1") == 1 && m.count("READY=1") == 2 })
	for _, said := range m.all() {
		if rest, ok := strings.CutPrefix(said, "RELOADING=1\nMONOTONIC_USEC="); ok {
			at, err := strconv.ParseInt(rest, 10, 64)
			require.NoError(t, err)
			require.GreaterOrEqual(t, at, before)
			require.LessOrEqual(t, at, monotonic(t))
		} else {
			require.NotContains(t, said, "RELOADING=1")
		}
	}
	harness.Until(t, "the log to say so", func() bool { return b.log.count("the configuration was read anew") == 1 })
	require.Zero(t, m.count("STOPPING=1"))
	require.Less(t, b.stop(), 5*time.Second)
	require.Equal(t, 1, m.count("STOPPING=1"))
}

func monotonic(t *testing.T) int64 {
	t.Helper()
	var ts unix.Timespec
	require.NoError(t, unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts))
	return ts.Nano() / 1000
}

// A process that stands still is not held for one that lives: nothing feeds the watchdog but what
// has moved.
func TestTheWatchdogIsNotFedByABridgeWhoseHTTPStandsStill(t *testing.T) {
	m, b := newManager(t), newBridge(t, quietYAML)
	b.start("NOTIFY_SOCKET="+m.path, "WATCHDOG_USEC=600000")
	harness.Until(t, "the watchdog to be fed", func() bool { return m.count("WATCHDOG=1") > 1 })
	// The bridge can open no file or connection any more, its own port's among them.
	var none unix.Rlimit
	require.NoError(t, unix.Prlimit(b.cmd.Process.Pid, unix.RLIMIT_NOFILE, nil, &none))
	require.NoError(t, unix.Prlimit(b.cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: none.Max}, nil))
	harness.Until(t, "the log to say that it stands still",
		func() bool { return b.log.count("the bridge stands still") > 0 })
	fed := m.count("WATCHDOG=1")
	harness.Until(t, "two more looks", func() bool { return b.log.count("the bridge stands still") > 2 })
	require.Equal(t, fed, m.count("WATCHDOG=1"))
	require.NoError(t, unix.Prlimit(b.cmd.Process.Pid, unix.RLIMIT_NOFILE, &none, nil))
	harness.Until(t, "the watchdog to be fed again", func() bool { return m.count("WATCHDOG=1") > fed })
	b.stop()
}

// With a service that accepts connections and never answers, and cameras that do the same, the end
// takes less than five seconds.
func TestTheEndTakesLessThanFiveSeconds(t *testing.T) {
	ctx, release := context.WithCancel(t.Context())
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-ctx.Done()
	}))
	defer func() { release(); service.CloseClientConnections(); service.Close() }()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // its backlog takes connections
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	yaml := quietYAML + fmt.Sprintf("service: {url: %q, token: 0123456789abcdef}\ncameras:\n", service.URL)
	yaml = strings.Replace(yaml, "bridge: {", "bridge: {id: b, account: a, ", 1)
	for i := range 8 {
		yaml += fmt.Sprintf("  - {id: c%d, url: 'rtsp://%s/'}\n", i, silent.Addr())
	}
	b := newBridge(t, yaml)
	b.start()
	hang, err := net.Dial("tcp", b.addr) // a client that never finishes its request
	require.NoError(t, err)
	defer func() { _ = hang.Close() }()
	_, err = hang.Write([]byte("GET / HTTP/1.1\r\n"))
	require.NoError(t, err)
	harness.Until(t, "the service to be asked", func() bool { r := b.status(); return r.Running })
	require.Less(t, b.stop(), 5*time.Second)
}

// status asks the running bridge as vmsbridge status does.
func (b *bridge) status() health.Report {
	b.t.Helper()
	r, err := site{configFile{b.file}, ""}.report(b.t.Context())
	require.NoError(b.t, err)
	return r
}
