package agent

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/health"
)

var metricName = regexp.MustCompile(`\b(vmsbridge|process)_[a-z0-9_]+`)

// expressions are those of the alert rules and of the dashboard's panels.
func expressions(t *testing.T) (list []string) {
	t.Helper()
	rules, err := os.ReadFile("../configs/alerts.yaml")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^ +expr: (.+)$`).FindAllStringSubmatch(string(rules), -1) {
		list = append(list, strings.Trim(m[1], "'"))
	}
	require.Greater(t, len(list), 20)
	content, err := os.ReadFile("../configs/grafana-dashboard.json")
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(content, &dashboard))
	for _, p := range dashboard.Panels {
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			list = append(list, strings.ReplaceAll(target.Expr, "$bridge", ".*"))
		}
	}
	return list
}

// Every metric of the rules and the dashboard is one that a running bridge has, and every
// expression is one that Prometheus reads.
func TestRulesAndDashboardUseRealMetrics(t *testing.T) {
	list := expressions(t)
	wanted := map[string]bool{}
	for _, e := range list {
		for _, name := range metricName.FindAllString(e, -1) {
			wanted[name] = true
		}
	}
	require.Greater(t, len(wanted), 30)
	s, stop := newSite(t)
	defer stop()
	_, stopBridge := s.run(func(a *Agent) {
		a.reg.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	})
	defer stopBridge()
	var left []string
	defer func() { t.Log("not found:", left) }()
	s.eventually("all metrics", func() bool {
		code, _, body := s.get("/metrics", apiToken, nil)
		require.Equal(t, http.StatusOK, code)
		have := map[string]bool{}
		for _, m := range regexp.MustCompile(`(?m)^([a-z0-9_]+)[{ ]`).FindAllStringSubmatch(string(body), -1) {
			have[m[1]] = true
		}
		left = slices.DeleteFunc(slices.Sorted(maps.Keys(wanted)), func(name string) bool { return have[name] })
		return len(left) == 0
	})
}

// Every kind of problem that the status page knows makes an alert, and every expression of the
// dashboard can be parsed.
func TestEveryProblemMakesAnAlert(t *testing.T) {
	rules, err := os.ReadFile("../configs/alerts.yaml")
	require.NoError(t, err)
	by := map[health.Kind]string{health.SignIn: "vmsbridge_agent_signed_in",
		health.Cameras: "vmsbridge_agent_camera_online", health.Stuck: "vmsbridge_agent_camera_stuck",
		health.View: "vmsbridge_agent_tampered", health.Decoder: "vmsbridge_agent_decoder_available",
		health.Configuration: "vmsbridge_agent_config_last_reload_successful",
		health.Restart:       "vmsbridge_agent_config_restart_needed", health.Parked: "vmsbridge_journal_parked_events"}
	for _, k := range health.Kinds {
		metric := `kind="` + string(k) + `"`
		if by[k] != "" {
			metric = by[k]
		}
		require.Contains(t, string(rules), metric, "no alert for %s", k)
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: apt install prometheus (scripts/deps does)")
	}
	file := "groups: [{name: dashboard, rules: [\n"
	for _, e := range expressions(t) {
		quoted, err := json.Marshal(e)
		require.NoError(t, err)
		file += "{record: x, expr: " + string(quoted) + "},\n"
	}
	path := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(path, []byte(file+"]}]\n"), 0o600))
	out, err := exec.CommandContext(t.Context(), promtool, "check", "rules", "--lint=none", path).CombinedOutput()
	require.NoError(t, err, "%s", out)
}
