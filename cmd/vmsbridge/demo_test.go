package main

import (
	"bytes"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
)

// built builds the programs into a folder of the test's own; the build cache makes the second time
// quick.
func built(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, harness.Build(dir, false, "vmsbridge", "vmscloud", "camsim"))
	return dir
}

// The demonstration shows events of all its cameras, ends by itself, and leaves nothing behind.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs for half a minute: leave out -short")
	}
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("camsim needs ffmpeg: apt install ffmpeg (scripts/deps does)")
	}
	bin, tmp := built(t), t.TempDir()
	cmd := exec.Command(filepath.Join(bin, "vmsbridge"), "demo", "--events", "3", "--for", "90s")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	t.Logf("%v:\n%s", time.Since(began).Round(time.Millisecond), out)
	require.NoError(t, err)
	text := string(out)
	require.Contains(t, text, "recordedImage.jpeg?deviceId=cam-")
	require.Contains(t, text, "to see it:\n  curl")
	require.Contains(t, text, "stopping")
	require.True(t, strings.HasPrefix(text, "Open in a browser"), "what to do is the first line:\n%s", text)
	require.Regexp(t, `(?m)^Open in a browser:  http://127\.0\.0\.1:\d+/#token=\w{26}$`, text)
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(strings.TrimSpace(line), tmp, "/tmp") // as it is by default
		require.True(t, len(line) <= 100 || !strings.Contains(line, " "), "%d columns: %s", len(line), line)
	}
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, left)

	// Ctrl-C while it runs: exit code 0, nothing left, no child left.
	cmd = exec.Command(filepath.Join(bin, "vmsbridge"), "demo", "--data", filepath.Join(tmp, "kept"))
	var all lines
	cmd.Stdout, cmd.Stderr = &all, &all
	require.NoError(t, cmd.Start())
	harness.Until(t, "the header", func() bool { return all.count("It ends with Ctrl-C") == 1 })
	harness.Until(t, "an event with an image", func() bool { return all.count("recordedImage.jpeg?") == 1 })
	if _, err := exec.LookPath("curl"); err == nil { // the line that it shows works as it stands
		_, line, _ := strings.Cut(all.String(), "to see it:\n")
		line = strings.Join(strings.SplitAfterN(line, "\n", 4)[:3], "")
		fetch := exec.Command("sh", "-c", line)
		fetch.Dir = tmp
		out, err := fetch.CombinedOutput()
		require.NoError(t, err, "%s: %s", line, out)
		picture, err := os.ReadFile(filepath.Join(tmp, "image.jpg"))
		require.NoError(t, err)
		_, err = jpeg.Decode(bytes.NewReader(picture))
		require.NoError(t, err, "%s: %.200s", line, picture)
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.NoError(t, cmd.Wait(), "%s", all.String())
	require.FileExists(t, filepath.Join(tmp, "kept", "vmsbridge.yaml"))
	require.Zero(t, do(t, "check", filepath.Join(tmp, "kept", "vmsbridge.yaml")).code)
	running, err := exec.Command("pgrep", "-f", bin).Output()
	require.Error(t, err, "still running: %s", running)
}

// A program that dies is reported with its last words, and what was started is ended.
func TestDemoReportsADeath(t *testing.T) {
	bin := built(t)
	require.NoError(t,
		os.WriteFile(filepath.Join(bin, "camsim"),
			[]byte("#!/bin/sh\necho warming up\necho 'the lens fell off' >&2\nexit 3\n"), 0o755))
	out, err := exec.Command(filepath.Join(bin, "vmsbridge"), "demo").CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, exitFailed, exit.ExitCode())
	require.Contains(t, string(out), "camsim cam-")
	require.Contains(t, string(out), "exit status 3")
	require.Contains(t, string(out), "the lens fell off")
}

// A folder in which something is already is left as it is, and nothing is started.
func TestDemoIntoAFullHouse(t *testing.T) {
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "letter"), []byte("dear"), 0o600))
	out, err := exec.Command(filepath.Join(built(t), "vmsbridge"), "demo", "--data", full).CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, exitUsage, exit.ExitCode())
	require.Contains(t, string(out), "not empty")
	require.Equal(t, 1, bytes.Count(out, []byte("\n")), "one line: %s", out)
	left, err := os.ReadDir(full)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestDemoWithoutPrograms(t *testing.T) {
	r := do(t, "demo")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "scripts/build")
}

// A child that ignores SIGTERM is killed with what it started.
func TestChildIsKilled(t *testing.T) {
	ch, err := startChild("stubborn", nil, "/bin/sh", "-c", `trap "" TERM; echo ready; while :; do sleep 1; done`)
	require.NoError(t, err)
	harness.Until(t, "the trap to be set", func() bool {
		ch.mu.Lock()
		defer ch.mu.Unlock()
		return len(ch.lines) == 1
	})

	began := time.Now()
	ch.stop(200 * time.Millisecond)
	require.Less(t, time.Since(began), time.Minute)
	require.True(t, strings.Contains(ch.died().Error(), "killed"), ch.died())
}
