package fuzz

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
)

// bin is the folder of the programs.
var bin string

// TestMain builds the programs: as they are for fuzzing, with the race detector for the tests that
// the seeds are.
func TestMain(m *testing.M) {
	flag.Parse()
	const built = "VMSBRIDGE_FUZZ_PROGRAMS" // by the process that a worker of the fuzzer is of
	if bin = os.Getenv(built); bin != "" {
		os.Exit(m.Run())
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "vmsbridge-fuzz-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		bin = dir
		if testing.Short() {
			return m.Run()
		}
		if err := harness.Build(dir, !fuzzing(), "vmsbridge", "vmscloud", "camsim"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if err := os.Setenv(built, dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// fuzzing reports whether inputs are made up, and not only the seeds are tried.
func fuzzing() bool { return flag.Lookup("test.fuzz").Value.String() != "" }

// mostBytes is how much memory a program may take. The race detector takes several times what the
// program does.
func mostBytes() int {
	if fuzzing() {
		return 256 << 20
	}
	return 1 << 30
}

// process is a program that runs beside the target.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	base string // where it answers; "" for one that does not
	ends bool   // it is to end by itself

	mu  sync.Mutex // guards log
	log bytes.Buffer
}

// Write keeps what the program says, or the newest part of it.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.log.Len() > 1<<20 {
		p.log.Next(p.log.Len() / 2)
	}
	return p.log.Write(b)
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// start runs a program of ours until the target ends; base is where it answers, if it does.
func start(tb testing.TB, base, name string, args ...string) *process {
	tb.Helper()
	p := &process{base: base}
	p.launch(tb, name, args...)
	tb.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.done })
	return p
}

func (p *process) launch(tb testing.TB, name string, args ...string) {
	tb.Helper()
	p.cmd, p.done = exec.Command(filepath.Join(bin, name), args...), make(chan struct{})
	p.cmd.Stdout, p.cmd.Stderr = p, p
	p.cmd.WaitDelay = time.Second
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // a worker of the fuzzer is killed
	require.NoError(tb, p.cmd.Start())
	running.add(p)
	go func() { _ = p.cmd.Wait(); running.remove(p); close(p.done) }()
}

// says waits until the program has printed something.
func (p *process) says(tb testing.TB, what string) {
	tb.Helper()
	require.Eventually(tb, func() bool { return strings.Contains(p.output(), what) }, 60*time.Second, 20*time.Millisecond, "%s", what)
}

// sound requires that the program runs, has not panicked, and is no larger than it may be.
func (p *process) sound(t testing.TB) {
	t.Helper()
	select {
	case <-p.done:
		t.Fatalf("%s ended: %v\n%s", p.cmd.Path, p.cmd.ProcessState, p.output())
	default:
	}
	log := p.output()
	for _, bad := range []string{"panic", "DATA RACE", "fatal error"} {
		require.NotContains(t, log, bad)
	}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	require.NoError(t, err)
	var pages, resident int
	_, err = fmt.Sscan(string(raw), &pages, &resident)
	require.NoError(t, err)
	require.Less(t, resident*os.Getpagesize(), mostBytes(), "memory of %s", p.cmd.Path)
}

// run is a program that runs to its end within a time, with all that it printed.
func run(tb testing.TB, name string, args ...string) (out string, code int) {
	tb.Helper()
	p := &process{ends: true}
	p.launch(tb, name, args...)
	select {
	case <-p.done:
	case <-time.After(time.Minute):
		tb.Fatalf("%v\n%s", args, whoHangs())
	}
	text := p.output()
	require.NotEqual(tb, -1, p.cmd.ProcessState.ExitCode(), "%s %v was killed:\n%s", name, args, text)
	for _, bad := range []string{"panic", "DATA RACE", "fatal error", "goroutine "} {
		require.NotContains(tb, text, bad)
	}
	return strings.TrimSpace(text), p.cmd.ProcessState.ExitCode()
}

// needs leaves a target out where it takes too long.
func needs(f *testing.F) string {
	f.Helper()
	if testing.Short() {
		f.Skip("it starts the real programs")
	}
	return f.TempDir()
}

func write(tb testing.TB, path, text string) string {
	tb.Helper()
	require.NoError(tb, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const lanToken = "lan-token-0123456789abcdef"

// cloud is a service with an account, and tokens of a user and a bridge.
type cloud struct {
	*process
	base, account, user, bridge string
}

func startCloud(f *testing.F, dir string, args ...string) *cloud {
	f.Helper()
	must := func(args ...string) string {
		out, code := run(f, "vmscloud", args...)
		require.Zero(f, code, out)
		lines := strings.Split(out, "\n")
		return lines[len(lines)-1]
	}
	data, port := filepath.Join(dir, "cloud"), harness.Port(f)
	c := &cloud{base: fmt.Sprintf("http://127.0.0.1:%d", port)}
	c.account = must("init", "--data", data, "--account", "fuzz", "--quiet")
	c.user = must("token", "create", "--data", data, "--kind", "user", "--account", c.account, "--quiet")
	c.bridge = must("token", "create", "--data", data, "--kind", "bridge", "--account", c.account, "--quiet")
	c.process = start(f, c.base, "vmscloud", append([]string{"run", "--data", data, "--listen", fmt.Sprintf("127.0.0.1:%d", port), "--sign-up"}, args...)...)
	c.says(f, "vmscloud serves")
	return c
}

// bridge is a bridge with its own interface at base.
type bridge struct {
	*process
	base, data, config, account string
	port                        int
}

// startBridge runs a bridge with further sections of YAML.
func startBridge(tb testing.TB, dir, account, yaml string) *bridge {
	tb.Helper()
	port := harness.Port(tb)
	b := &bridge{base: fmt.Sprintf("http://127.0.0.1:%d", port), data: filepath.Join(dir, "bridge"),
		config: filepath.Join(dir, "vmsbridge.yaml"), account: account, port: port}
	write(tb, filepath.Join(dir, "lan.token"), lanToken)
	b.configure(tb, yaml)
	b.process = start(tb, b.base, "vmsbridge", "run", "--config", b.config)
	b.says(tb, "the bridge runs")
	require.Eventually(tb, func() bool {
		res, err := http.Get(b.base + "/healthz")
		return err == nil && res.Body.Close() == nil
	}, 20*time.Second, 20*time.Millisecond, "the bridge's own interface")
	return b
}

func (b *bridge) configure(tb testing.TB, yaml string) {
	tb.Helper()
	write(tb, b.config, fmt.Sprintf(`
bridge: {id: bridge-1, account: %q, data: %q}
clock: {wait: 0s}
api: {listen: "127.0.0.1:%d", tokens: [{name: lan, token_file: lan.token, scopes: [read, report]}]}
stills: {max_size: 64MiB}
%s`, b.account, b.data, b.port, yaml))
}

// reload gives a running bridge other sections of YAML. What is new in them is dialled at once,
// where a bridge that was told nonsense waits longer each time.
func (b *bridge) reload(t testing.TB, yaml string) {
	t.Helper()
	b.configure(t, yaml)
	require.NoError(t, b.cmd.Process.Signal(syscall.SIGHUP))
}

// answers requires that a program says how it is, in time.
func answers(t testing.TB, base string) {
	t.Helper()
	res, err := (&http.Client{Timeout: 20 * time.Second}).Get(base + "/healthz")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
}
