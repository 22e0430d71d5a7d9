package main

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/discover/onviftest"
	"vmsbridge/agent/setup"
	"vmsbridge/configs"
)

// discoverRun runs the command line against cameras by their addresses.
func discoverRun(t *testing.T, cameras []*onviftest.Responder, args ...string) (code int, out, errOut string) {
	var o, e bytes.Buffer
	line := append([]string{"discover"}, args...)
	for _, c := range cameras {
		line = append(line, c.Address())
	}
	code = program(t.Context(), line, streams{strings.NewReader(""), &o, &e})
	require.NotContains(t, o.String()+e.String(), onviftest.Password)
	return code, o.String(), e.String()
}

func passwordFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(path, []byte(onviftest.Password+"\n"), 0o600))
	return path
}

// The output as it is, put below `cameras:`, is a configuration.
func TestDiscoverPrintsSectionsToPaste(t *testing.T) {
	one, two := onviftest.New(t, 2), onviftest.New(t, 1)
	two.Serial = "Gate: 7/b"
	code, out, errOut := discoverRun(t, []*onviftest.Responder{one, two}, "-u", onviftest.User, "--password-file",
		passwordFile(t))
	require.Equal(t, 0, code, errOut)
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "secrets"), 0o700))
	for _, id := range []string{"s42", "gate--7-b"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "secrets", id+".password"), []byte("x"), 0o600))
	}
	cfg, err := configs.Parse(filepath.Join(dir, "x.yaml"), []byte("cameras:\n"+out))
	require.NoError(t, err, out)
	require.Len(t, cfg.Cameras, 2)
	require.Equal(t, "s42", cfg.Cameras[0].ID)
	require.Equal(t, "ACME C-1", cfg.Cameras[0].Name)
	require.Equal(t, "rtsp://127.0.0.1:8554/main?channel=1&unicast=true", cfg.Cameras[0].URL)
	require.Equal(t, "rtsp://127.0.0.1:8554/mid?channel=1&unicast=true", cfg.Cameras[0].PreviewURL)
	require.Equal(t, onviftest.User, cfg.Cameras[0].Username)
}

func TestDiscoverAddsKeepingComments(t *testing.T) {
	one, two := onviftest.New(t, 2), onviftest.New(t, 1)
	two.Serial = "T2"
	dir := t.TempDir()
	config := filepath.Join(dir, "bridge.yaml")
	const before = "# our site\ncameras: # all of them\n  - id: a   # first\n    url: rtsp://10.0.0.1/\n\n# how much " +
		"is said\nlog:\n  level: info\n"
	require.NoError(t, os.WriteFile(config, []byte(before), 0o640))
	args := []string{"-u", onviftest.User, "--password-file", passwordFile(t), "--add", "--config", config}
	cams := []*onviftest.Responder{one, two}
	code, out, errOut := discoverRun(t, cams[:1], args...)
	require.Equal(t, 0, code, errOut)
	require.Contains(t, out, "added s42")
	code, out, errOut = discoverRun(t, cams, args...)
	require.Equal(t, 0, code, errOut)
	require.Contains(t, out, "s42 is there already, as s42")
	require.Contains(t, out, "nothing to add to "+config)
	// The other one streams from the same address here, as both are on this host.
	cfg, err := configs.Load(config)
	require.NoError(t, err)
	require.Equal(t, onviftest.Password, cfg.Cameras[1].Password.Reveal())
	content, err := os.ReadFile(config)
	require.NoError(t, err)
	for _, kept := range strings.Split(before, "\n") {
		require.Contains(t, string(content), kept)
	}
	info, err := os.Stat(filepath.Join(dir, "secrets", "s42.password"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	info, err = os.Stat(config)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "nothing is left beside")
}

func TestDiscoverLeavesABadFileAlone(t *testing.T) {
	cam := onviftest.New(t, 2)
	config := filepath.Join(t.TempDir(), "bridge.yaml")
	require.NoError(t, os.WriteFile(config, []byte("camera: []\n"), 0o600))
	code, _, errOut := discoverRun(t, []*onviftest.Responder{cam}, "-u", onviftest.User, "--password-file",
		passwordFile(t), "--add", "--config", config)
	require.Equal(t, exitConfig, code)
	require.Contains(t, errOut, "bridge.yaml:1:1")
	content, err := os.ReadFile(config)
	require.NoError(t, err)
	require.Equal(t, "camera: []\n", string(content))
}

func TestDiscoverSaysWhyACameraTellsNothing(t *testing.T) {
	code, out, errOut := discoverRun(t, []*onviftest.Responder{onviftest.New(t, 2)})
	require.Equal(t, exitFailed, code)
	require.Contains(t, out, "wants a user name")
	require.Contains(t, errOut, "--user")
	password := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(password, []byte("wrong"), 0o600))
	config := filepath.Join(t.TempDir(), "bridge.yaml")
	code, out, errOut = discoverRun(t, []*onviftest.Responder{onviftest.New(t, 2)}, "-u", onviftest.User,
		"--password-file", password, "--add", "--config", config)
	require.Equal(t, exitFailed, code, "none was added")
	require.Contains(t, out, "refuses this user name and password")
	require.Contains(t, errOut, "no camera told its streams to "+onviftest.User)
	require.NoFileExists(t, config)
	code, _, errOut = discoverRun(t, nil, "http://u:secret@10.0.0.5/")
	require.Equal(t, exitUsage, code)
	require.NotContains(t, errOut, "secret")
	code, _, _ = discoverRun(t, nil, "--add")
	require.Equal(t, exitUsage, code)
}

func TestDiscoverJSON(t *testing.T) {
	cam := onviftest.New(t, 2)
	code, out, errOut := discoverRun(t, []*onviftest.Responder{cam}, "-u", onviftest.User, "--password-file",
		passwordFile(t), "--json")
	require.Equal(t, 0, code, errOut)
	var line struct {
		Host    string
		Streams []struct{ URL string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &line))
	require.Len(t, line.Streams, 3)
	u, err := url.Parse(line.Streams[0].URL)
	require.NoError(t, err)
	require.Nil(t, u.User)
}

// What root adds for a service with a user of its own, that user can read: the package's folder
// belongs to root and the service's group. A file that is not there is made.
func TestDiscoverAddsForTheService(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files to another group")
	}
	const group = 4242
	dir := t.TempDir()
	require.NoError(t, os.Chown(dir, 0, group))
	require.NoError(t, os.Chmod(dir, 0o2750|os.ModeSetgid))
	config := filepath.Join(dir, "vmsbridge.yaml")
	cam := onviftest.New(t, 2)
	code, out, errOut := discoverRun(t, []*onviftest.Responder{cam}, "-u", onviftest.User, "--password-file",
		passwordFile(t), "--add", "--config", config)
	require.Equal(t, 0, code, errOut)
	require.Contains(t, out, "added")
	cfg, err := configs.Load(config)
	require.NoError(t, err)
	require.Equal(t, onviftest.Password, cfg.Cameras[0].Password.Reveal())
	secrets, err := filepath.Glob(filepath.Join(dir, "secrets", "*.password"))
	require.NoError(t, err)
	require.Len(t, secrets, 1)
	for path, mode := range map[string]os.FileMode{config: 0o640, filepath.Join(dir, "secrets"): 0o750,
		secrets[0]: 0o640} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		_, gid := setup.OwnerOf(info)
		require.Equal(t, group, gid, path)
		require.Equal(t, mode, info.Mode().Perm(), path)
	}
}
