package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/uplink/server/openapitest"
)

// bin is the folder of the programs under test. They are built once, and with the race detector if
// the tests are; or they are those of $VMSBRIDGE_TEST_PROGRAMS, a folder with all of them, which
// may be for another machine (scripts/emulate).
var bin = os.Getenv("VMSBRIDGE_TEST_PROGRAMS")

func TestMain(m *testing.M) {
	if how := os.Getenv(watched); how != "" {
		os.Unsetenv(watched)
		fmt.Fprintln(os.Stderr, "become a watched program:", becomeWatched(how))
		os.Exit(1)
	}
	if bin != "" {
		os.Exit(openapitest.Run(m))
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "vmsbridge-e2e-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		bin = dir
		tag := "" // figures are those of programs as shipped
		if harness.Race {
			tag = "heldanswers"
		}
		if err := harness.BuildTagged(dir, harness.Race, tag, "vmsbridge", "vmscloud", "camsim"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return openapitest.Run(m)
	}())
}

// shipped is the folder of the programs without the race detector, built when somebody first asks.
var shipped = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(bin, "shipped")
	return dir, errors.Join(os.MkdirAll(dir, 0o700), harness.Build(dir, false, "vmsbridge", "vmscloud", "camsim"))
})

// usesShipped holds the names of the tests that use the programs of shipped.
var usesShipped sync.Map

// asShipped makes the rest of the test and its parts use programs without the race detector, for
// figures that users would see.
func asShipped(t *testing.T) {
	t.Helper()
	if !harness.Race || os.Getenv("VMSBRIDGE_TEST_PROGRAMS") != "" {
		return
	}
	_, err := shipped()
	require.NoError(t, err)
	usesShipped.Store(t.Name(), true)
}

// programs is the folder of the programs that a test uses.
func programs(t *testing.T) string {
	t.Helper()
	test, _, _ := strings.Cut(t.Name(), "/")
	if _, ok := usesShipped.Load(test); !ok {
		return bin
	}
	dir, err := shipped()
	require.NoError(t, err)
	return dir
}

// program is a running process whose output is kept for the test's failure and for waiting.
type program struct {
	t    *testing.T
	name string
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended

	mu  sync.Mutex // guards log
	log bytes.Buffer
}

// start runs a program of ours (a bare name) or of the system's (a path). It is killed at the end
// of the test.
func start(t *testing.T, name string, args ...string) *program {
	t.Helper()
	path := name
	if !strings.Contains(name, "/") {
		path = filepath.Join(programs(t), name)
	}
	return startCommand(t, exec.Command(path, args...))
}

func startCommand(t *testing.T, cmd *exec.Cmd) *program {
	t.Helper()
	p := &program{t: t, name: filepath.Base(cmd.Path), cmd: cmd, done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	stdin, err := p.cmd.StdinPipe() // programs that end with their input
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	t.Cleanup(func() {
		_ = stdin.Close()
		p.kill()
		if t.Failed() {
			t.Logf("output of %s %s:\n%s", p.name, strings.Join(cmd.Args[1:], " "), tail(p.output(), 20000))
		}
	})
	return p
}

// Write keeps what the process prints.
func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

func (p *program) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// kill ends the process with SIGKILL and waits for its end.
func (p *program) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stop ends the process as a service manager would, and requires that it ends in order and in time,
// which is stretched.
func (p *program) stop(within time.Duration) {
	p.t.Helper()
	within = stretched(within)
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.done:
	case <-time.After(within):
		p.t.Fatalf("%s did not stop within %v", p.name, within)
	}
	require.Zero(p.t, p.cmd.ProcessState.ExitCode(), "exit code of %s", p.name)
}

func (p *program) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// line waits for the first line of output that contains what, and returns it.
func (p *program) line(what string, within time.Duration) string {
	p.t.Helper()
	var found string
	until(p.t, within, fmt.Sprintf("%s to print %q", p.name, what), func() bool {
		s := bufio.NewScanner(strings.NewReader(p.output()))
		for s.Scan() {
			if strings.Contains(s.Text(), what) {
				found = s.Text()
				return true
			}
		}
		if !p.running() {
			p.t.Fatalf("%s ended before it printed %q:\n%s", p.name, what, tail(p.output(), 4000))
		}
		return false
	})
	return found
}

// command runs a program of ours to its end and returns what it printed on standard output.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, stderr, code := try(t, name, args...)
	require.Zero(t, code, "%s %s: %s%s", name, strings.Join(args, " "), out, stderr)
	return strings.TrimSpace(out)
}

// try is command for one that may fail.
func try(t *testing.T, name string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs(t), name), args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		require.NoError(t, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// stretched is a time that is right for a machine with a processor for whoever wants one, made as
// many times longer as there are more that want one now.
func stretched(d time.Duration) time.Duration {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return d
	}
	var load float64
	if _, err := fmt.Sscan(string(raw), &load); err != nil {
		return d
	}
	return time.Duration(float64(d) * min(max(1, load/float64(runtime.NumCPU())), 8))
}

// until polls cond, and fails the test if it does not hold in time: twice within, stretched.
func until(t *testing.T, within time.Duration, what string, cond func() bool) {
	t.Helper()
	began := time.Now()
	for !cond() {
		if waited := time.Since(began); waited > 2*stretched(within) {
			t.Fatalf("waited %v for %s", waited.Round(time.Second), what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// needProgram skips the test, saying what is missing and how to get it.
func needProgram(t *testing.T, name, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed: apt install %s (scripts/deps does)", name, pkg)
	}
	return path
}

func tail(s string, n int) string {
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}
