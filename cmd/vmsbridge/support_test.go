package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unpacked is what a bundle holds, by name without the folder.
func unpacked(t *testing.T, file string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	gz, err := gzip.NewReader(bytes.NewReader(content))
	require.NoError(t, err)
	files := map[string]string{}
	for r := tar.NewReader(gz); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		files[path.Base(h.Name)] = string(text)
	}
}

func TestSupportBundle(t *testing.T) {
	b := newBridge(t,
		"# hunter2-comment\n"+strings.Replace(quietYAML, "listen:",
			"tokens: [{name: lan, token: hunter2-0123456789}], listen:", 1)+
			"cameras: [{id: yard, url: 'rtsp://127.0.0.1:1/', username: viewer, password: hunter2-password}]\n")
	b.start()
	file := filepath.Join(b.dir, "running.tar.gz")
	r := do(t, "support-bundle", "-c", b.file, "-o", file)
	require.Zero(t, r.code, r.err)
	require.Contains(t, r.out, file)
	files := unpacked(t, file)
	for name, want := range map[string]string{"status.txt": "yard", "status.json": `"cameras"`, "version.txt": "vmsbridge ", "config.yaml": "username: viewer", "config-problems.txt": "no problem",
		"machine.txt": "MemTotal", "stores.txt": "journal.db", "metrics.txt": "vmsbridge_agent_info", "log.txt": "",
		"unit.txt": ""} {
		require.Contains(t, files, name)
		require.Contains(t, files[name], want, name)
	}
	for name, text := range files {
		require.NotContains(t, text, "hunter2", name)
		require.NotContains(t, text, "\xff\xd8\xff", "%s holds a picture", name)
	}
	r = do(t, "support-bundle", "-c", b.file, "-o", file)
	require.Equal(t, exitFailed, r.code, "nothing is written over")
	b.stop()

	// Of a bridge that does not start, it holds why, and what its stores are like.
	b.write(quietYAML + "passwrod: hunter2\ncameras: [{id: yard, url: 'rtsp://u:hunter2@h/', password: hunter2}]\n")
	file = filepath.Join(b.dir, "down.tar.gz")
	r = do(t, "support-bundle", "-c", b.file, "-o", file)
	require.Zero(t, r.code, r.err)
	files = unpacked(t, file)
	require.Contains(t, files["status.txt"], "the bridge does not run")
	require.Contains(t, files["config-problems.txt"],
		"cameras[0].url: a user name or password must not stand in an address")
	require.Contains(t, files["fsck.txt"], "all is in order")
	for name, text := range files {
		require.NotContains(t, text, "hunter2", name)
	}
}
