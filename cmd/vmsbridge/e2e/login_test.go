package e2e

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// login runs vmsbridge login with what is typed.
func (s *site) login(typed string, args ...string) (out string, err error) {
	s.t.Helper()
	cmd := exec.Command(filepath.Join(programs(s.t), "vmsbridge"),
		append([]string{"login", "--config", s.yaml}, args...)...)
	cmd.Stdin = strings.NewReader(typed)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err = cmd.Run()
	return b.String(), err
}

// TestABridgeThatSomebodySignsIn: it records before anybody has signed it in, reports once somebody
// has, and goes on recording when the service takes the sign-in back, which it shows in its health,
// its metrics and its log.
func TestABridgeThatSomebodySignsIn(t *testing.T) {
	t.Parallel()
	s := newSite(t, cameraYAML("gate", sceneCamera(t, "mjpeg"), "", "auto", "", ""))
	s.set("token_file: bridge.token", "session_file: service.session")
	s.signUp()
	s.startBridge()
	recorded := func() (at string) {
		code, header, _ := get(t, s.local+vms.ImageURL("", "gate", vms.ImagePreview, vms.OpBefore,
			time.Now().Add(time.Hour)), lanToken)
		if code != http.StatusOK {
			return ""
		}
		return header.Get("X-Vms-Timestamp")
	}
	until(t, 30*time.Second, "the first still", func() bool { return recorded() != "" })
	said := func() string { return strings.Join(s.health().Problems, "\n") }
	until(t, 10*time.Second, "the bridge to say that nobody has signed in",
		func() bool { return strings.Contains(said(), "nobody has signed in") })
	require.Contains(t, s.metrics(), "vmsbridge_agent_signed_in 0")

	out, err := s.login("admin@localhost\nnot the password\n")
	require.Error(t, err)
	require.Contains(t, out, "the password is wrong")
	require.NoFileExists(t, s.path("service.session"))
	out, err = s.login("admin@localhost\nhunter2hunter2\n")
	require.NoError(t, err, out)
	require.Contains(t, out, "Signed in")
	require.NotContains(t, out, "hunter2")
	info, err := os.Stat(s.path("service.session"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	s.bridge.line("registered with the service", 40*time.Second)
	until(t, 60*time.Second, "motion at the service", func() bool { return len(s.events("gate", vms.TypeMotion)) > 0 })
	until(t, 20*time.Second, "the tunnel", func() bool { return s.health().Tunnel == "up" })
	require.Contains(t, s.metrics(), "vmsbridge_agent_signed_in 1")

	// The service's side takes it back: every token and client of the account.
	for line := range strings.Lines(command(t, "vmscloud", "token", "list", "--data", s.path("cloud"))) {
		if strings.Contains(line, "vmsbridge bridge-1") {
			id, _, _ := strings.Cut(line, " ")
			command(t, "vmscloud", "token", "revoke", "--data", s.path("cloud"), id)
		}
	}
	until(t, 60*time.Second, "the bridge to say that it is not let in",
		func() bool { return strings.Contains(said(), "vmsbridge login") })
	until(t, 30*time.Second, "the tunnel to end", func() bool { return s.health().Tunnel == "down" })
	require.Contains(t, s.metrics(), "vmsbridge_agent_signed_in 0")
	before := recorded()
	until(t, 40*time.Second, "a newer still", func() bool { return recorded() > before })
	require.True(t, s.bridge.running())
	require.Contains(t, s.bridge.output(), "recording goes on")

	out, err = s.login("hunter2hunter2\n", "--user", "admin@localhost")
	require.NoError(t, err, out)
	until(t, 90*time.Second, "the bridge to be let in again", func() bool { return said() == "" })
	require.NotContains(t, s.bridge.output(), "hunter2")
	s.bridge.stop(5 * time.Second)
}
