package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/control"
	"vmsbridge/agent/health"
	"vmsbridge/scripts/harness"
)

// A bridge that hangs takes connections, and answers none: status says so within a time that people
// wait.
func TestStatusOfASilentBridge(t *testing.T) {
	t.Parallel()
	b := newBridge(t, quietYAML)
	require.NoError(t, os.MkdirAll(b.data(), 0o700))
	l, err := control.Listen(b.data())
	require.NoError(t, err)
	defer l.Close()
	began := time.Now()
	r := do(t, "status", "--config", b.file)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "the bridge runs and does not answer within 10s")
	require.Contains(t, r.err, "vmsbridge service restart")
	require.Less(t, time.Since(began), 50*time.Second, "less than the minute that a change may take")
}

// A bridge runs whose control socket was removed, or had no room: status does not say that none
// runs.
func TestStatusOfABridgeWithoutASocket(t *testing.T) {
	t.Parallel()
	b := newBridge(t, quietYAML)
	b.start()
	require.NoError(t, os.Remove(filepath.Join(b.data(), control.Socket)))
	r := do(t, "status", "--config", b.file)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "its control socket is not there")
	require.NotContains(t, r.out, "does not run")
	b.stop()
	r = do(t, "status", "--config", b.file)
	require.Equal(t, exitWrong, r.code)
	require.Contains(t, r.out, "! the bridge does not run")
}

// A bridge whose data folder was moved away cannot be asked, and runs for a while yet: status says
// what is missing.
func TestStatusOfABridgeWithoutItsFolder(t *testing.T) {
	t.Parallel()
	b := newBridge(t, quietYAML)
	b.start()
	require.NoError(t, os.Rename(b.data(), b.data()+".away"))
	r := do(t, "status", "--config", b.file)
	require.Equal(t, exitWrong, r.code)
	require.Contains(t, r.out, "its data folder "+b.data()+" is not there")
	require.Contains(t, r.out, "put it back first")
	require.NoError(t, os.Rename(b.data()+".away", b.data()))
	b.stop()
	r = do(t, "status", "--config", b.file)
	require.NotContains(t, r.out, "is not there")
}

// From a bridge that was never started over one that has everything wrong to one that is well.
func TestStatus(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer service.Close()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	dead := nobody.Addr().String()
	require.NoError(t, nobody.Close())
	yaml := strings.Replace(quietYAML, "bridge: {", "bridge: {id: gate-bridge, account: a, name: Front gate, ", 1) +
		"service: {url: '" + service.URL + "', token: 0123456789abcdef}\n" +
		"cameras:\n  - {id: yard, name: Yard, url: 'rtsp://" + dead +
		"/'}\n  - {id: attic, url: 'rtsp://h/', enabled: false}\n"
	b := newBridge(t, yaml)

	r := do(t, "status", "--config", b.file)
	require.Equal(t, exitWrong, r.code)
	require.Contains(t, r.out, "! the bridge does not run")
	require.Contains(t, r.out, "gate-bridge (Front gate)")

	b.start()
	harness.Until(t, "everything to go wrong", func() bool {
		r := b.status()
		return r.Has(health.SignIn) && r.Cameras[0].State == "unreachable"
	})

	r = do(t, "status", "-c", b.file)
	require.Equal(t, exitWrong, r.code)
	require.Less(t, strings.Index(r.out, "! the service refuses the bridge's token"),
		strings.Index(r.out, "! 1 camera is not online: Yard"), "the worse first:\n%s", r.out)
	require.Less(t, strings.Index(r.out, "! 1 camera is not online: Yard"),
		strings.Index(r.out, "bridge    gate-bridge"))
	require.Regexp(t, `(?m)^yard +unreachable .*Yard$`, r.out)
	require.Regexp(t, `(?m)^attic +off .*attic$`, r.out)
	require.Contains(t, r.out, "vmsbridge probe", "what to do")
	require.Regexp(t, `! the service refuses the bridge's token: .* \(.*the token was refused`, r.out, "and what it answered")

	// The same as JSON; and a bad edit.
	b.write(yaml + "stills: {quality: 0}\n")
	bad := do(t, "service", "reload", "-c", b.file)
	require.Equal(t, exitConfig, bad.code)
	require.Contains(t, bad.err, "stills: double key")
	require.Contains(t, bad.err, "goes on with the configuration that it has")
	r = do(t, "status", "--json", "--data", b.data())
	require.Equal(t, exitWrong, r.code)
	var report health.Report
	require.NoError(t, json.Unmarshal([]byte(r.out), &report))
	require.True(t, report.Has(health.Configuration))
	require.Len(t, report.Cameras, 2)
	require.Equal(t, b.cmd.Process.Pid, report.PID)

	// What is well says so. The service cannot be left out without a restart.
	b.write(quietYAML)
	done := do(t, "service", "reload", "-c", b.file)
	require.Zero(t, done.code, done.err)
	require.Contains(t, done.out, "cameras removed: yard\n")
	require.Contains(t, done.out, "only after a restart (vmsbridge service restart): bridge.account, bridge.id, "+
		"service.url\n")
	b.stop()
	b.start()
	harness.Until(t, "the decoders to be looked at", func() bool { return b.status().Decoders.JPEG.OK })
	r = do(t, "status", "-c", b.file)
	if now := b.status(); !now.Has(health.Decoder) { // a machine without libavcodec says so
		require.Zero(t, r.code, r.out)
		require.True(t, strings.HasPrefix(r.out, "All is well.\n"), r.out)
	}
	b.stop()

	// It does not start any more: the status says why.
	b.write(quietYAML + "nonsense: 1\n")
	r = do(t, "status", "-c", b.file)
	require.Equal(t, exitWrong, r.code)
	require.Contains(t, r.out, "! the bridge does not run")
	require.Contains(t, r.out, "nonsense: unknown key")
	require.Equal(t, exitFailed, do(t, "service", "reload", "-c", b.file).code)
}

// The configuration with which a bridge starts must be good: 78 tells the service manager not to
// try again.
func TestABadConfigurationEndsTheProcessWith78(t *testing.T) {
	b := newBridge(t, quietYAML+"nonsense: 1\n")
	cmd := process(t, "run", "--config", b.file)
	out, _ := cmd.CombinedOutput()
	require.Equal(t, exitConfig, cmd.ProcessState.ExitCode(), "%s", out)
	require.Contains(t, string(out), "nonsense: unknown key")
	_, err := os.Stat(filepath.Join(b.data()))
	require.ErrorIs(t, err, os.ErrNotExist, "nothing was opened")
}
