package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What a person may have written a secret into, rightly or wrongly.
const leaky = `# the old password was hunter2-comment
bridge: {id: b, account: a, data: /data}
service:
  url: https://user:hunter2-userinfo@vms.example.com/hunter2-path   # hunter2-comment
  token: hunter2-token
  tokne: hunter2-misspelt
api:
  tokens:
    - {name: lan, token: &t hunter2-anchor}
    - {name: other, token: *t}
    - hunter2-item
hunter2-key: x
cameras:
  - id: gate
    url: rtsp://10.0.0.5/user=admin_password=hunter2-xm_channel=1
    preview_url: rtsp://10.0.0.5/live?password=hunter2-query
    password: [hunter2-list]
  - id: yard
    url: rtsp://10.0.0.6:554/stream1
    username: viewer
    password: |
      hunter2-block
    motion: {masks: [[[0, 0], [1, 0], [1, 0.5]]]}
  - {id: odd, url: "hunter2@host//x", name: {nested: hunter2-nested}}
`

func TestRedacted(t *testing.T) {
	text, ok := Redacted([]byte(leaky))
	require.True(t, ok)
	require.NotContains(t, text, "hunter2")
	for _, shown := range []string{"https://vms.example.com/hidden", "rtsp://10.0.0.5/hidden",
		"rtsp://10.0.0.5/live?hidden", "rtsp://10.0.0.6:554/stream1", "username: viewer", "name: lan", "0.5", "'***'"} {
		require.Contains(t, text, shown)
	}
	for _, bad := range []string{"a: [hunter2", "\x00", "{hunter2", "*hunter2"} {
		text, ok = Redacted([]byte(bad))
		require.False(t, ok, bad)
		require.Empty(t, text)
	}
	text, ok = Redacted(nil)
	require.True(t, ok)
	require.Empty(t, text)
}

// The example's own secrets do not show, and what is left of it is a configuration that reads as
// before but for them.
func TestRedactedExample(t *testing.T) {
	example, err := os.ReadFile("vmsbridge.example.yaml")
	require.NoError(t, err)
	text, ok := Redacted(example)
	require.True(t, ok)
	require.Contains(t, text, "token_file: secrets/service.token", "where a secret is, is none")
	_, err = Parse("x.yaml", []byte(text))
	if err != nil {
		require.NotContains(t, err.Error(), "unknown key", "the keys are all there")
	}
}

// Whatever stands in a file, nothing of a secret shows, wherever in the file it stands under a key
// that is no secret's.
func TestRedactedHidesEverySecret(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.yaml")
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		content, err := os.ReadFile(rapid.SampledFrom(files).Draw(t, "file"))
		require.NoError(t, err)
		secret := rapid.StringMatching(`zq[a-z0-9]{6,20}`).Draw(t, "secret")
		lines := strings.Split(string(content), "\n")
		for range rapid.IntRange(1, 3).Draw(t, "lines") {
			i := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
			indent := lines[i][:len(lines[i])-len(strings.TrimLeft(lines[i], " "))]
			form := rapid.SampledFrom([]string{"password: %", "token: %", "passwrod: %", "# %", "token: '%'",
				"password: {x: %}", "url: rtsp://u:%@h/", "%: x", "url: 'http://h/?t=%'"}).Draw(t, "form")
			lines = append(lines[:i+1], append([]string{indent + strings.ReplaceAll(form, "%", secret)},
				lines[i+1:]...)...)
		}
		text, _ := Redacted([]byte(strings.Join(lines, "\n")))
		require.NotContains(t, text, secret)
	})
}

func TestSecretsAndDataFolder(t *testing.T) {
	cfg, err := Parse("/etc/x/y.yaml", []byte("bridge: {id: b, account: a, data: d}\nservice: {url: 'https://h', "+
		"token: hunter2-1}\napi: {tokens: [{name: n, token: hunter2-2-0123456789}]}\ncameras: [{id: a, url: "+
		"'rtsp://h/', username: u, password: hunter2-3}]\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"hunter2-1", "hunter2-2-0123456789", "hunter2-3"}, Secrets(cfg))
	for content, want := range map[string]string{
		"bridge: {data: d}\nbogus: 1\n":  "/etc/x/d",
		"bridge: {data: /var/d}":         "/var/d",
		"":                               "/var/lib/vmsbridge",
		"bridge: [":                      "/var/lib/vmsbridge",
		"bridge: {data: }\ncameras: [x]": "/var/lib/vmsbridge",
	} {
		require.Equal(t, want, DataFolder("/etc/x/y.yaml", []byte(content)), content)
	}
}
