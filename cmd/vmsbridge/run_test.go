package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/cmd/cli"
	"vmsbridge/scripts/harness"
)

// The real program starts, says that it is ready, answers, and the first signal ends it in order.
func TestRunStopsOnTheFirstSignal(t *testing.T) {
	ports, err := freePorts(1)
	require.NoError(t, err)
	dir := t.TempDir()
	file := write(t, "b.yaml",
		fmt.Sprintf("bridge: {data: %q}\napi: {listen: %q}\nstills: {max_size: 8MiB, segment_size: 1MiB}\nlog: "+
			"{format: json}\n", filepath.Join(dir, "data"), ports[0]))
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		cmd := process(t, "run", "--config", file)
		stderr, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := make(chan string, 1000)
		go func() {
			defer close(lines)
			for s := bufio.NewScanner(stderr); s.Scan(); {
				lines <- s.Text()
			}
		}()
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		harness.Until(t, "the bridge to answer",
			func() bool { return answers(t.Context(), "http://"+ports[0]+"/healthz") })
		require.NoError(t, cmd.Process.Signal(sig))
		var log []string
		deadline := time.After(time.Minute)
		for open := true; open; {
			var line string
			select {
			case line, open = <-lines:
				log = append(log, line)
			case <-deadline:
				t.Fatalf("did not stop:\n%s", strings.Join(log, "\n"))
			}
		}
		require.NoError(t, cmd.Wait(), "exit code 0 after an orderly stop")
		all := strings.Join(log, "\n")
		require.Contains(t, all, `"msg":"configuration"`, "warnings are logged")
		require.Contains(t, all, "no camera is configured")
		require.Contains(t, all, "stopping; another signal aborts")
		_, err = http.Get("http://" + ports[0] + "/healthz")
		require.Error(t, err)
	}
}

// A second signal ends at once what does not stop.
func TestRunAbortsOnTheSecondSignal(t *testing.T) {
	cmd := process(t)
	cmd.Env = append(cmd.Env, "VMSBRIDGE_TEST_MAIN=stubborn")
	var log lines
	cmd.Stderr = &log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	harness.Until(t, "the start", func() bool { return log.count("started") == 1 })
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	harness.Until(t, "the drain", func() bool { return log.count("another signal aborts") == 1 })
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT), "of the same stop")
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-time.After(cli.Same + 100*time.Millisecond):
	case <-ended:
		t.Fatal("a signal of the same stop aborted it")
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	var exit *exec.ExitError
	require.ErrorAs(t, <-ended, &exit)
	require.Equal(t, exitAborted, exit.ExitCode())
}

// An address in use is one line that says what to do, and exit code 1: systemd may try again.
func TestRunOnAPortInUse(t *testing.T) {
	ports, err := freePorts(1)
	require.NoError(t, err)
	l, err := net.Listen("tcp", ports[0])
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	file := write(t, "b.yaml", fmt.Sprintf("bridge: {data: %q}\napi: {listen: %q}\n", t.TempDir(), ports[0]))
	r := do(t, "run", file)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "address already in use")
	require.Contains(t, r.err, "api.listen")
}
