package configs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The example's groups that are comments are good ones too, with the defaults that they show.
func TestExampleOfSinks(t *testing.T) {
	example, err := os.ReadFile("vmsbridge.example.yaml")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "secrets"), 0o700))
	_, sinks, ok := strings.Cut(string(example), "# mqtt:\n")
	require.True(t, ok)
	sinks, _, _ = strings.Cut("# mqtt:\n"+sinks, "\nlog:")
	var lines []string
	for line := range strings.Lines(sinks) {
		if line = strings.TrimPrefix(line, "# "); regexp.MustCompile(`^(  |mqtt:|webhooks:|file:)`).MatchString(line) &&
			!strings.Contains(line, "ca_file") {
			lines = append(lines, line)
		}
	}
	for _, name := range []string{"mqtt.password", "alarm.secret"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "secrets", name), []byte("0123456789abcdef-"+name+"\n"),
			0o600))
	}
	text := strings.Join(lines, "") + "bridge: { id: bridge-1 }\ncameras: [{ id: yard, url: 'rtsp://h/1' }]\n"
	cfg, err := Parse(filepath.Join(dir, "x.yaml"), []byte(text))
	require.NoError(t, err, text)
	require.Empty(t, cfg.Warnings)
	require.Len(t, cfg.Webhooks, 1)
	require.Equal(t, filepath.Join(dir, "events.jsonl"), cfg.Lines.Path)
	want := Default().MQTT
	require.Equal(t, []any{want.Protocol, want.Discovery, want.DiscoveryPrefix, want.Backlog, "vmsbridge-bridge-1",
		"vmsbridge/bridge-1"},
		[]any{cfg.MQTT.Protocol, cfg.MQTT.Discovery, cfg.MQTT.DiscoveryPrefix, cfg.MQTT.Backlog, cfg.MQTT.ClientID,
			cfg.MQTT.Prefix})
	require.Equal(t, []string{"vms.motionDetectionEvent.v1", "vms.tamperDetectionEvent.v1"}, cfg.Webhooks[0].Types)
	require.Equal(t, "0123456789abcdef-alarm.secret", cfg.Webhooks[0].Secret.Reveal())
}

func TestWebhookDefaults(t *testing.T) {
	cfg, err := Parse("x.yaml", []byte("webhooks: [{ id: a, url: 'https://h/secret-path', secret: 0123456789abcdef }]"))
	require.NoError(t, err)
	w := cfg.Webhooks[0]
	require.True(t, w.Ongoing)
	require.Equal(t, 10*time.Second, w.Timeout)
	require.Equal(t, Backlog{100_000, 168 * time.Hour}, w.Backlog)
	require.NotContains(t, fmt.Sprintf("%v %+v", cfg, w), "secret-path")
	require.Equal(t, "https://h/secret-path", w.URL.Reveal())
	require.Empty(t, Default().MQTT.URL, "there is no broker unless one is named")
}
