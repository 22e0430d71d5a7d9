package configs

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// The rules are good, and each fires on what it is for and leaves a bridge that is well alone.
func TestAlertRules(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: apt install prometheus (scripts/deps does)")
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "testdata/alerts.test.yaml"}} {
		out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}
