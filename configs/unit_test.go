package configs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// unit is the template as it is installed, for a program that exists everywhere.
func unit(t *testing.T) string {
	t.Helper()
	text, err := Unit("/bin/true", "/etc/vmsbridge/vmsbridge.yaml", "daemon")
	require.NoError(t, err)
	require.NotContains(t, text, "{{", "everything is filled in")
	file := filepath.Join(t.TempDir(), "vmsbridge.service")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func analyze(t *testing.T, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed: apt install systemd (scripts/deps does)")
	}
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func TestSystemdAcceptsTheUnit(t *testing.T) {
	require.NotContains(t, analyze(t, "verify", "--man=no", unit(t)), "vmsbridge.service:")
}

func TestTheUnitIsConfined(t *testing.T) {
	out := analyze(t, "security", "--offline=true", "--no-pager", unit(t))
	m := regexp.MustCompile(`Overall exposure level for vmsbridge.service: ([0-9.]+)`).FindStringSubmatch(out)
	require.NotNil(t, m, "%s", out)
	level, err := strconv.ParseFloat(m[1], 64)
	require.NoError(t, err)
	require.LessOrEqual(t, level, 2.0, "%s", out)
	require.Regexp(t, `✓ MemoryDenyWriteExecute=`, out)
	text, err := os.ReadFile(unit(t))
	require.NoError(t, err)
	require.Regexp(t, `(?m)^MemoryMax=\d+%$`, string(text))
	require.Regexp(t, `(?m)^TasksMax=\d+$`, string(text))
	for _, call := range []string{"seccomp", "landlock_create_ruleset", "landlock_restrict_self", "prlimit64",
		"setpriority"} {
		require.Regexp(t, `(?m)^SystemCallFilter=[^~\n]*\b`+call+`\b`, string(text),
			"the decoders confine themselves by it")
	}
}

func TestUnitRefusesWhatSystemdWouldReadOtherwise(t *testing.T) {
	for _, c := range [][3]string{
		{"vmsbridge", "/etc/v.yaml", "v"}, {"/bin/v", "v.yaml", "v"}, {"/bin/v", "/my files/v.yaml", "v"}, {"/bin/v",
			"/etc/%h.yaml", "v"},
		{"/bin/v;reboot", "/etc/v.yaml", "v"}, {"/bin/v", "/etc/$HOME.yaml", "v"}, {"/bin/../v", "/etc/v.yaml", "v"},
		{"/bin/v", "/etc/v.yaml", ""}, {"/bin/v", "/etc/v.yaml", "a\nb"},
	} {
		_, err := Unit(c[0], c[1], c[2])
		require.Error(t, err, "%q", c)
	}
}
