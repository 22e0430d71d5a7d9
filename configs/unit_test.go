package configs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// installed is both programs' units as they are installed, for programs that exist everywhere.
func installed(t *testing.T) map[string]string {
	t.Helper()
	text, err := Unit("/bin/true", "/etc/vmsbridge/vmsbridge.yaml", "daemon")
	require.NoError(t, err)
	require.NotContains(t, text, "{{", "everything is filled in")
	service, err := os.ReadFile(filepath.Join("package", "vmscloud.service"))
	require.NoError(t, err)
	files := map[string]string{}
	for name, text := range map[string]string{"vmsbridge.service": text, "vmscloud.service": strings.NewReplacer(
		"/usr/bin/vmscloud", "/bin/true", "User=vmscloud", "User=daemon").Replace(string(service))} {
		files[name] = filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(files[name], []byte(text), 0o600))
	}
	return files
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

func TestSystemdAcceptsTheUnits(t *testing.T) {
	for name, file := range installed(t) {
		require.NotContains(t, analyze(t, "verify", "--man=no", file), name+":")
	}
}

func TestTheUnitsAreConfined(t *testing.T) {
	for name, file := range installed(t) {
		out := analyze(t, "security", "--offline=true", "--no-pager", file)
		m := regexp.MustCompile(`Overall exposure level for ` + name + `: ([0-9.]+)`).FindStringSubmatch(out)
		require.NotNil(t, m, "%s", out)
		level, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		require.LessOrEqual(t, level, 2.0, "%s", out)
		require.Regexp(t, `✓ MemoryDenyWriteExecute=`, out, name)
	}
}

// What systemd-analyze does not look at: how much a unit may take, and what the decoders confine
// themselves by.
func TestTheUnitsAreBounded(t *testing.T) {
	for name, file := range installed(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, line := range []string{`MemoryMax=\d+%`, `TasksMax=\d+`, `MemoryDenyWriteExecute=yes`, `NoNewPrivileges=yes`} {
			require.Regexp(t, `(?m)^`+line+`$`, string(text), name)
		}
		if name != "vmsbridge.service" {
			continue
		}
		for _, call := range []string{"seccomp", "landlock_create_ruleset", "landlock_restrict_self", "prlimit64",
			"setpriority"} {
			require.Regexp(t, `(?m)^SystemCallFilter=[^~\n]*\b`+call+`\b`, string(text))
		}
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
