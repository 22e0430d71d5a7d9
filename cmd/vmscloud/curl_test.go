package main

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The five lines of the document lead from a password to an event.
func TestFromAPasswordToAnEvent(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../uplink/README.md")
	require.NoError(t, err)
	lines := regexp.MustCompile("(?s)## From a password.*?```sh\n(.*?)```").FindSubmatch(raw)
	require.NotNil(t, lines)
	c := newCloud(t)
	cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", string(lines[1]))
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "AT="+c.p.base, "USER=asu@a.org", "PASSWORD="+bedPassword, "CAMERA=cam-a")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), `"name":"Gate of a"`)
	require.Contains(t, string(out), motion(c.accounts["a"], "cam-a", 0).ID)
}
