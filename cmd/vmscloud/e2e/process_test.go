package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
)

// programs are vmsbridge and camsim, built once if a benchmark needs them.
var programs = sync.OnceValues(func() (dir string, err error) {
	dir = filepath.Dir(binary)
	return dir, harness.Build(dir, false, "vmsbridge", "camsim")
})

// process is a vmsbridge or camsim that runs beside the test.
type process struct {
	cmd   *exec.Cmd
	lines chan string // what it prints, line by line
}

// launch starts a program of ours. It is killed at the end of the test.
func launch(t testing.TB, name string, args ...string) *process {
	t.Helper()
	dir, err := programs()
	require.NoError(t, err)
	p := &process{cmd: exec.Command(filepath.Join(dir, name), args...), lines: make(chan string, 1<<16)}
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.cmd.Stderr = p.cmd.Stdout
	require.NoError(t, p.cmd.Start())
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(p.lines)
		for sc := bufio.NewScanner(out); sc.Scan(); {
			select {
			case p.lines <- sc.Text():
			default: // nobody reads them
			}
		}
		_, _ = io.Copy(io.Discard, out)
	})
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); reader.Wait(); _ = p.cmd.Wait() })
	return p
}

// line is the next one with a word in it.
func (p *process) line(t testing.TB, word string, within time.Duration) string {
	t.Helper()
	late := time.After(within)
	last := ""
	for {
		select {
		case text, ok := <-p.lines:
			if !ok {
				t.Fatalf("%s ended before it printed %q; its last words: %s", p.cmd.Path, word, last)
			}
			last += "\n" + text
			if strings.Contains(text, word) {
				return text
			}
		case <-late:
			t.Fatalf("%s did not print %q", p.cmd.Path, word)
		}
	}
}

// memory is what a process has of its own (heap, stacks), and of files that are mapped into it, in
// bytes. What is mapped can be dropped at any time, since the file has it.
func memory(t testing.TB, pid int) (own, mapped int64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		name, rest, _ := strings.Cut(line, ":")
		if name != "RssAnon" && name != "RssFile" {
			continue
		}
		kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		require.NoError(t, err)
		if name == "RssAnon" {
			own = kib << 10
		} else {
			mapped = kib << 10
		}
	}
	return own, mapped
}

// processorTime is what a process has used, in user and system mode (proc(5): the 14th and 15th
// field of stat, in hundredths of a second).
func processorTime(t testing.TB, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(stat), ") ")
	f := strings.Fields(rest)
	user, err1 := strconv.ParseInt(f[11], 10, 64)
	system, err2 := strconv.ParseInt(f[12], 10, 64)
	require.NoError(t, errors.Join(err1, err2))
	return time.Duration(user+system) * 10 * time.Millisecond
}

// lanToken opens a bridge's own interface.
const lanToken = "lan-token-0123456789abcdef"

// site is the configuration of a real bridge beside a vmscloud.
type site struct {
	dir, yaml, local string
}

// newSite writes it; cameras is the YAML below "cameras:".
func newSite(t testing.TB, s *cloud, cameras string) site {
	t.Helper()
	dir := t.TempDir()
	port := harness.Port(t)
	b := site{dir: dir, yaml: filepath.Join(dir, "vmsbridge.yaml"), local: fmt.Sprintf("http://127.0.0.1:%d", port)}
	for name, text := range map[string]string{"bridge.token": s.token, "lan.token": lanToken, "vmsbridge.yaml": fmt.Sprintf(`
bridge: {id: bridge-1, account: acc-1, data: %q}
service: {url: %q, token_file: bridge.token}
api: {listen: "127.0.0.1:%d", tokens: [{name: lan, token_file: lan.token, scopes: [read, report]}]}
stills: {max_size: 256MiB}
journal: {max_events: 2000000, outbox_max_size: 8GiB}
clock: {wait: 0s}
log: {format: json}
cameras:
%s`, filepath.Join(dir, "data"), s.url, port, cameras)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "data"), 0o700))
	return b
}

// start runs the bridge until it says that it does.
func (b site) start(t testing.TB) *process {
	t.Helper()
	p := launch(t, "vmsbridge", "run", "--config", b.yaml)
	p.line(t, "the bridge runs", time.Minute)
	return p
}

// metric is a value of the bridge's metrics.
func (b site) metric(t testing.TB, name string) float64 {
	t.Helper()
	body := b.ask(t, http.MethodGet, "/metrics", "")
	for line := range strings.Lines(body) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			require.NoError(t, err)
			return v
		}
	}
	t.Fatalf("the bridge has no metric %s", name)
	return 0
}

// ask sends a request to the bridge's own interface.
func (b site) ask(t testing.TB, method, path, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.local+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+lanToken)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, 2, res.StatusCode/100, "%s %s: %s", method, path, raw)
	return string(raw)
}

// post reports an event to the bridge, as another program of the site does.
func (b site) post(t testing.TB, ev any) {
	t.Helper()
	raw, err := json.Marshal(ev)
	require.NoError(t, err)
	b.ask(t, http.MethodPost, "/api/v3.0/events", string(raw))
}
