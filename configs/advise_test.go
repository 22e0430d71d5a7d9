package configs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// load writes a file with a mode and loads it; the warnings come without its name.
func load(t *testing.T, text string, mode os.FileMode) (*Config, []string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	require.NoError(t, os.Chmod(path, mode))
	cfg, err := Load(path)
	var warnings []string
	if err == nil {
		for _, w := range cfg.Warnings {
			warnings = append(warnings, w.Path+": "+w.Message)
		}
	}
	return cfg, warnings, err
}

func TestAdvice(t *testing.T) {
	dir := t.TempDir()
	session := filepath.Join(dir, "session")
	require.NoError(t, os.WriteFile(session, []byte("{}"), 0o644))
	require.NoError(t, os.Chmod(session, 0o644))
	const cameras = "cameras:\n  - {id: a, url: 'rtsp://Host/live', username: u, password: " + planted +
		"}\n  - {id: b, url: 'rtsp://host:554/live/'}\n  - {id: c, url: 'rtsp://host/live', enabled: false}\n  - " +
		"{id: d, url: 'rtsp://host/live?x=1'}\n"
	_, warnings, err := load(t, cameras, 0o600)
	require.NoError(t, err)
	require.Equal(t, []string{"cameras[1].url: is the address of the camera on line 2 too"}, warnings)
	_, warnings, err = load(t, cameras, 0o644)
	require.NoError(t, err)
	require.Equal(t, []string{"cameras[0].password: every user of this machine may read this file, and secrets stand " +
		"in it, this one the first; run chmod o= on the file, or write password_file",
		"cameras[1].url: is the address of the camera on line 2 too"}, warnings)
	_, warnings, err = load(t, "bridge: {id: b, account: a, data: "+dir+
		"/not/there/yet}\nservice: {url: 'https://h', session_file: "+session+
		"}\nstills: {max_size: 1000000TB}\ncameras: [{id: a, url: 'rtsp://h/'}]\n", 0o644)
	require.NoError(t, err)
	require.Len(t, warnings, 2)
	require.Contains(t, warnings[0], "service.session_file: every user of this machine may read "+session)
	require.Contains(t, warnings[1], "stills.max_size: 1000000TB is more than the disk of "+dir+"/not/there/yet has")
}

// Secrets may come from the environment, and from the folder in which systemd puts its credentials.
func TestSecretsOfTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gate"), []byte("from-systemd\n"), 0o400))
	const text = "cameras:\n  - {id: a, url: 'rtsp://h/1', username: u, password: '${GATE_PASSWORD}'}\n  - {id: b, " +
		"url: 'rtsp://h/2', username: u, password_file: '${CREDENTIALS_DIRECTORY}/gate'}\n" +
		"  - {id: c, url: 'rtsp://h/3', username: u, password: 'x${GATE_PASSWORD}'}\n"
	t.Setenv("GATE_PASSWORD", "")
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	_, _, err := load(t, text, 0o600)
	require.ErrorContains(t, err, ":2:55: cameras[0].password: names an environment variable that is not set or empty")
	require.ErrorContains(t, err, ":3:45: cameras[1].password_file: $CREDENTIALS_DIRECTORY is not set; systemd sets it")
	t.Setenv("GATE_PASSWORD", "from-environment")
	t.Setenv("CREDENTIALS_DIRECTORY", dir)
	cfg, warnings, err := load(t, text, 0o600)
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Equal(t, []string{"from-environment", "from-systemd", "x${GATE_PASSWORD}"}, Secrets(cfg))
	t.Setenv("GATE_PASSWORD", "two\nlines")
	_, _, err = load(t, text, 0o600)
	require.ErrorContains(t, err, "holds a line break")
	_, _, err = load(t, "cameras: [{id: a, url: 'rtsp://h/1', username: u, password_file: '${NOT_SET_AT_ALL}/x'}]",
		0o600)
	require.ErrorContains(t, err, "the environment variable NOT_SET_AT_ALL is not set")
}
