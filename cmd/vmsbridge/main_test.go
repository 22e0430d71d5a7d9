package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec"
	"vmsbridge/cmd/cli"
	"vmsbridge/scripts/harness"
)

// TestMain lets the test binary be the real program, for what only a process can show: signals,
// exit codes, decoders.
func TestMain(m *testing.M) {
	codec.RunWorker()
	switch os.Getenv("VMSBRIDGE_TEST_MAIN") {
	case "1":
		main()
	case "stubborn": // a bridge that takes for ever to stop
		ctx, _ := cli.OnSignal(context.Background(), slog.New(slog.NewTextHandler(os.Stderr, nil)), os.Exit)
		fmt.Fprintln(os.Stderr, "started")
		<-ctx.Done()
		select {}
	}
	os.Exit(m.Run())
}

// result is what a command line did.
type result struct {
	out, err string
	code     int
}

// do runs a command line in this process.
func do(t *testing.T, args ...string) result {
	t.Helper()
	return doWith(t, t.Context(), "", args...)
}

func doWith(t *testing.T, ctx context.Context, stdin string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := program(ctx, args, streams{strings.NewReader(stdin), &out, &errs})
	return result{out.String(), errs.String(), code}
}

// process prepares the real program.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), "VMSBRIDGE_TEST_MAIN=1")
	return cmd
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Every wrong command line ends with 64 and one line that says what to do.
func TestWrongCommandLines(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"unknown command":  {[]string{"fly"}, "fly"},
		"unknown flag":     {[]string{"run", "--fast"}, "--fast"},
		"misspelt command": {[]string{"evnts"}, "events"},
		"no camera":        {[]string{"image", "-o", "x.jpg"}, "--camera"},
		"no output":        {[]string{"image", "--camera", "a"}, "--output"},
		"bad time":         {[]string{"image", "--camera", "a", "-o", "x", "--before", "noonish"}, `"noonish" is not a time`},
		"two times": {[]string{"image", "--camera", "a", "-o", "x", "--before", "1h", "--after", "1h"},
			"--after"},
		"bad kind":              {[]string{"image", "--camera", "a", "-o", "x", "--type", "huge"}, "preview"},
		"bad since":             {[]string{"events", "--since", "noonish"}, "--since"},
		"until before since":    {[]string{"events", "--since", "1h", "--until", "2h"}, "--since"},
		"resend nothing":        {[]string{"queue", "resend", "--since", "1h", "--until", "2h"}, "--until: "},
		"unknown type":          {[]string{"events", "--type", "moton"}, "no event type"},
		"until and follow":      {[]string{"events", "--follow", "--until", "now"}, "exclude each other"},
		"url without token":     {[]string{"events", "--url", "http://127.0.0.1:1"}, "--token-file"},
		"password in the url":   {[]string{"probe", "rtsp://admin:hunter2@10.0.0.1/"}, "--user"},
		"password with a slash": {[]string{"probe", "rtsp://admin:hun/ter2@10.0.0.1/"}, "--user"},
		"not a stream":          {[]string{"probe", "http://10.0.0.1/"}, "rtsp://"},
		"nothing to probe":      {[]string{"probe"}, "--camera"},
		"retry nothing":         {[]string{"queue", "retry"}, "--all"},
		"retry all and some":    {[]string{"queue", "retry", "--all", "x"}, "--all"},
	} {
		t.Run(name, func(t *testing.T) {
			r := do(t, tc.args...)
			require.Equal(t, exitUsage, r.code, "stderr: %s", r.err)
			require.Contains(t, r.err, tc.want)
			require.Equal(t, 1, strings.Count(r.err, "\n"), "one line: %q", r.err)
			require.Empty(t, r.out)
			require.NotContains(t, r.err, "hunter2")
			require.NotContains(t, r.err, "ter2")
		})
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {}} {
		r := do(t, args...)
		require.Zero(t, r.code)
		require.Empty(t, r.err)
		for _, word := range []string{"run", "demo", "check", "probe", "events", "image", "queue", "version", "78",
			"64", "130", "VMSBRIDGE_CONFIG"} {
			require.Contains(t, r.out, word)
		}
	}
	for _, command := range []string{"run", "demo", "check", "probe", "events", "image", "queue", "version"} {
		r := do(t, command, "--help")
		require.Zero(t, r.code, command)
		require.Contains(t, r.out, "vmsbridge "+command)
	}
}

func TestCheck(t *testing.T) {
	bad := write(t, "bad.yaml", "cameras:\n  - {id: a, ulr: x}\nstills: {quality: 0}\n")
	r := do(t, "check", bad)
	require.Equal(t, exitConfig, r.code)
	require.Equal(t, bad+`:2:13: cameras[0].ulr: unknown key, did you mean "url"?`+"\n"+bad+":3:19: stills.quality: 0 is below the least, 1\n", r.out)
	require.Equal(t, "vmsbridge: 2 problems in "+bad+"\n", r.err)

	good := write(t, "good.yaml", "cameras:\n  - {id: a, url: \"rtsp://h/\"}\n  - {id: b, url: \"rtsp://h/\", "+
		"enabled: false}\n")
	for _, args := range [][]string{{"check", good}, {"check", "--config", good}, {"check", "-c", good}} {
		r = do(t, args...)
		require.Equal(t, result{good + ": good, 2 cameras (1 enabled)\n", "", 0}, r)
	}

	empty := write(t, "empty.yaml", "")
	r = do(t, "check", empty)
	require.Zero(t, r.code)
	require.Contains(t, r.out, empty+":1:1: cameras: warning: no camera is configured")

	r = do(t, "check", "/no/such.yaml")
	require.Equal(t, exitConfig, r.code)
	require.Contains(t, r.err, "no such file")

	var found checked
	r = do(t, "check", "--json", bad)
	require.Equal(t, exitConfig, r.code)
	require.NoError(t, json.Unmarshal([]byte(r.out), &found))
	require.False(t, found.Good)
	require.Equal(t, "cameras[0].ulr", found.Problems[0].Path)
	require.Equal(t, 2, found.Problems[0].Line)
	r = do(t, "check", "--json", good)
	require.Zero(t, r.code)
	require.NoError(t, json.Unmarshal([]byte(r.out), &found))
	require.True(t, found.Good)
	require.Equal(t, 1, found.Enabled)
}

// What people type at a program that they do not know.
func TestHelpVersionAndGroups(t *testing.T) {
	for line, want := range map[string]string{
		"--version": "vmsbridge " + version() + "\n", "-V": "vmsbridge " + version() + "\n", "-h": "support-bundle",
		"-v": "vmsbridge " + version() + "\n", "completion": "Packages install all three",
		"help": "support-bundle", "help queue list": "vmsbridge queue list [flags]", "help queue": "queue retry",
		"queue": "queue retry", "service": "service reload", "completion bash": "complete -o filenames",
		"completion zsh": "#compdef vmsbridge", "completion fish": "complete -c vmsbridge",
	} {
		r := do(t, strings.Fields(line)...)
		require.Zero(t, r.code, line)
		require.Contains(t, r.out, want, line)
		require.Empty(t, r.err, line)
	}
	require.Equal(t, exitUsage, do(t, "help", "fly").code)
	require.Equal(t, exitUsage, do(t, "completion", "csh").code)
}

// Whatever needs a configuration ends with 78 where there is none, and says how to get one.
func TestWithoutAConfiguration(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "bundle.tar.gz")
	for _, args := range [][]string{{"run"}, {"check"}, {"events"}, {"image", "--camera", "a", "-o", "x.jpg"},
		{"status"}, {"arm"}, {"disarm"}, {"service", "reload"},
		{"queue", "list"}, {"fsck"}, {"probe", "--camera", "a"}, {"replay", "--camera", "a", "x.mp4"}, {"login"},
		{"support-bundle", "-o", bundle}} {
		r := do(t, append(args, "--config", filepath.Join(t.TempDir(), "vmsbridge.yaml"))...)
		require.Equal(t, exitConfig, r.code, "%v: %s", args, r.err)
		require.Contains(t, r.err, "discover -u USER --add", "%v", args)
		require.Contains(t, r.err, "--config", "%v", args)
	}
	require.FileExists(t, bundle, "what can be had is packed all the same")
}

// Who may not read the configuration is told in one line how to ask, and not that no bridge runs.
func TestAnOrdinaryUserIsToldHow(t *testing.T) {
	unreadable, closed := write(t, "vmsbridge.yaml", quietYAML), filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(closed, 0o700))
	for _, args := range [][]string{{"check", unreadable}, {"events", "-c", unreadable}, {"status", "-c", unreadable},
		{"arm", "-c", unreadable}, {"service", "reload", "-c", unreadable}, {"queue", "list", "-c", unreadable},
		{"fsck", "--data", closed}} {
		var r result
		harness.AsNobody(t, func() { r = do(t, args...) })
		require.NotZero(t, r.code, "%v", args)
		require.Contains(t, r.err, "sudo vmsbridge", "%v", args)
		require.Equal(t, 1, strings.Count(r.out+r.err, "\n"), "%v: %s%s", args, r.out, r.err)
	}
}

// Without a terminal nothing is coloured, and no progress is drawn.
func TestNoControlCharactersInAPipe(t *testing.T) {
	b := newBridge(t, quietYAML)
	for _, args := range [][]string{{"status", "-c", b.file}, {"check", b.file}, {"--help"}, {"version"},
		{"nonsense"}} {
		r := do(t, args...)
		require.NotContains(t, r.out+r.err, "\x1b", "%v", args)
		require.NotContains(t, r.out+r.err, "\r", "%v", args)
	}
}

// A bad configuration ends run with 78, so that systemd does not start it again, and says every
// problem.
func TestRunRefusesABadConfiguration(t *testing.T) {
	bad := write(t, "bad.yaml", "cameras:\n  - {id: a}\n  - {id: a, url: \"rtsp://u:hunter2@h/\"}\n")
	r := do(t, "run", bad)
	require.Equal(t, exitConfig, r.code)
	require.Contains(t, r.err, bad+":2:5: cameras[0].url: missing")
	require.Contains(t, r.err, bad+":3:10: cameras[1].id:")
	require.Contains(t, r.err, bad+":3:18: cameras[1].url: a user name or password must not stand in an address")
	require.Contains(t, r.err, "vmsbridge: 3 problems in ")
	require.NotContains(t, r.err, "hunter2")
	require.Equal(t, exitConfig, do(t, "run", "/no/such.yaml").code)
}

// version says what keeps the decoders within bounds, and what this machine lacks for it.
func TestVersionTellsTheConfinement(t *testing.T) {
	r := do(t, "version")
	require.Zero(t, r.code, r.err)
	require.Regexp(t, `(?m)^Decoder processes are confined by .*no_new_privs.*\.$`, r.out)
	r = do(t, "version", "--json")
	require.Zero(t, r.code, r.err)
	require.Regexp(t, `"confinement":\{"inForce":\["no_new_privs"`, r.out)
}
