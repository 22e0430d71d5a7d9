package fuzz

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
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
	cmd     *exec.Cmd
	done    chan struct{}
	base    string   // where it answers; "" for one that does not
	ends    bool     // it is to end by itself
	secrets []string // that nothing it says may hold

	mu     sync.Mutex // guards log and unseen
	log    bytes.Buffer
	unseen []byte // of log: what quiet has not looked at
}

// Write keeps what the program says, or the newest part of it.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.log.Len() > 1<<20 {
		p.log.Next(p.log.Len() / 2)
	}
	p.unseen = append(p.unseen, b...)
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
	for end := time.Now().Add(2 * answerPatience); !strings.Contains(p.output(),
		what); time.Sleep(20 * time.Millisecond) {
		if p.sound(tb); time.Now().After(end) {
			tb.Fatalf("%s HANGS: it does not say %q; %s", p.name(), what, p.stands())
		}
	}
}

// name is what people call the program.
func (p *process) name() string { return filepath.Base(p.cmd.Path) }

// sound requires that the program runs, has said nothing that it must not, and was never larger
// than it may be, nor a process that it has begun.
func (p *process) sound(t testing.TB) {
	t.Helper()
	p.quiet(t)
	select {
	case <-p.done:
		t.Fatalf("%s ENDED: %v\n%s", p.name(), p.cmd.ProcessState, last(p.output(), 5000))
	default:
	}
	for _, pid := range append([]int{p.cmd.Process.Pid}, p.children()...) {
		if most := peak(pid); most > mostBytes() {
			t.Fatalf("%s took TOO MUCH MEMORY: %d MiB at its peak, of %d", p.name(), most>>20, mostBytes()>>20)
		}
	}
}

// badWords begin what a program says in its distress.
var badWords = []string{"panic", "DATA RACE", "fatal error"}

// quiet requires that what the program has said since it was last asked tells of no panic and no
// secret.
func (p *process) quiet(t testing.TB) {
	t.Helper()
	p.mu.Lock()
	text := string(p.unseen)
	p.unseen = nil
	p.mu.Unlock()
	for _, bad := range badWords {
		if at := strings.Index(text, bad); at >= 0 {
			t.Fatalf("%s says %q:\n%s", p.name(), bad, text[max(0, at-500):min(len(text), at+5000)])
		}
	}
	for _, secret := range p.secrets {
		if at := strings.Index(text, secret); at >= 0 {
			t.Fatalf("%s tells a SECRET, %q:\n%s", p.name(), secret, text[max(0, at-500):min(len(text), at+500)])
		}
	}
}

// children are the processes that the program has begun.
func (p *process) children() (pids []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.cmd.Process.Pid))
	for _, path := range lists {
		raw, _ := os.ReadFile(path) // the thread may be gone
		for _, text := range strings.Fields(string(raw)) {
			if pid, err := strconv.Atoi(text); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// peak is the most memory that a process ever had, in bytes; 0 for one that has ended.
func peak(pid int) int {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(raw), "VmHWM:")
	kib := 0
	_, _ = fmt.Sscan(after, &kib) // else there is none
	return kib << 10
}

// run is a program that runs to its end within a time and the memory that it may take, with all
// that it printed, which has no panic and none of the secrets.
func run(tb testing.TB, secrets []string, name string, args ...string) (out string, code int) {
	tb.Helper()
	p := &process{ends: true, secrets: secrets}
	p.launch(tb, name, args...)
	most, look, late := 0, time.NewTicker(5*time.Millisecond), time.After(answerPatience)
	defer look.Stop()
	for ended := false; !ended; {
		select {
		case <-p.done:
			ended = true
		case <-look.C:
			most = max(most, peak(p.cmd.Process.Pid))
		case <-late:
			tb.Fatalf("%s %v HANGS; %s", name, args, p.stands())
		}
	}
	p.quiet(tb)
	text, state := p.output(), p.cmd.ProcessState
	if state.ExitCode() == -1 {
		tb.Fatalf("%s %v was KILLED: %v\n%s", name, args, state, text)
	}
	// What the kernel says at the end begins with the size of who started it: ru_maxrss stays over
	// execve.
	if all := int(state.SysUsage().(*syscall.Rusage).Maxrss) << 10; all > peak(os.Getpid()) {
		most = max(most, all)
	}
	if most > mostBytes() {
		tb.Fatalf("%s %v took TOO MUCH MEMORY: %d MiB at its peak, of %d", name, args, most>>20, mostBytes()>>20)
	}
	return strings.TrimSpace(text), state.ExitCode()
}

// ends requires one of the exit codes that a command may end with.
func ends(tb testing.TB, out string, code int, may ...int) {
	tb.Helper()
	if !slices.Contains(may, code) {
		tb.Fatalf("ends with EXIT CODE %d, which is none of %v:\n%s", code, may, last(out, 5000))
	}
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

const (
	lanToken = "lan-token-0123456789abcdef"
	// secret is what stands for every password and token that a target makes up.
	secret = "pa55word-that-nobody-may-read"
)

// cloud is a service with an account, and tokens of a user and a bridge.
type cloud struct {
	*process
	base, account, user, bridge string
}

func startCloud(f *testing.F, dir string, args ...string) *cloud {
	f.Helper()
	must := func(args ...string) string {
		out, code := run(f, nil, "vmscloud", args...)
		require.Zero(f, code, out)
		lines := strings.Split(out, "\n")
		return lines[len(lines)-1]
	}
	data, port := filepath.Join(dir, "cloud"), harness.Port(f)
	c := &cloud{base: fmt.Sprintf("http://127.0.0.1:%d", port)}
	c.account = must("init", "--data", data, "--account", "fuzz", "--quiet")
	c.user = must("token", "create", "--data", data, "--kind", "user", "--account", c.account, "--quiet")
	c.bridge = must("token", "create", "--data", data, "--kind", "bridge", "--account", c.account, "--quiet")
	c.process = start(f, c.base, "vmscloud",
		append([]string{"run", "--data", data, "--listen", fmt.Sprintf("127.0.0.1:%d", port), "--sign-up"}, args...)...)
	c.says(f, "vmscloud serves")
	c.secrets = []string{c.user, c.bridge, secret}
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
	b.secrets = []string{lanToken, secret}
	b.says(tb, "the bridge runs")
	for end := time.Now().Add(answerPatience); !b.lives(); time.Sleep(20 * time.Millisecond) {
		if b.sound(tb); time.Now().After(end) {
			tb.Fatalf("%s HANGS: its own interface does not answer; %s", b.name(), b.stands())
		}
	}
	return b
}

func (b *bridge) configure(tb testing.TB, yaml string) {
	tb.Helper()
	write(tb, b.config, fmt.Sprintf(`
bridge: {id: bridge-1, account: %q, data: %q}
clock: {wait: 0s}
api: {listen: "127.0.0.1:%d", tokens: [{name: lan, token_file: lan.token, scopes: [read, report]}]}
stills: {max_size: 64MiB, segment_size: 1MiB}
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
func answers(t testing.TB, p *process) {
	t.Helper()
	res, err := (&http.Client{Timeout: answerPatience}).Get(p.base + "/healthz")
	if err != nil {
		t.Fatalf("%s HANGS: %v; %s", p.name(), err, p.stands())
	}
	require.NoError(t, res.Body.Close())
}

// post reports an event to the bridge's own interface.
func post(t testing.TB, b *bridge) {
	t.Helper()
	event := rightEvent()
	event["accountId"], event["actorAccountId"] = b.account, b.account
	body, err := json.Marshal(event)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.base+"/api/v3.0/events", bytes.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+lanToken)
	res, err := (&http.Client{Timeout: answerPatience}).Do(r)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Contains(t, []int{http.StatusCreated, http.StatusConflict}, res.StatusCode)
}
