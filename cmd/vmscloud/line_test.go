package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/configs"
)

// Every list is to be had as JSON, from the files and from a running service; secrets are not in
// it.
func TestListsAsJSON(t *testing.T) {
	data := t.TempDir()
	must(t, "init", "--data", data, "--account", "Site", "--quiet")
	secret := must(t, "token", "create", "--data", data, "--kind", "bridge", "--expires", "2d", "--quiet")
	lists := func() {
		var token tokenShown
		out := must(t, "token", "list", "--json", "--data", data)
		require.NoError(t, json.Unmarshal([]byte(out), &token))
		require.Equal(t, "bridge", token.Kind)
		require.WithinDuration(t, time.Now().Add(48*time.Hour), token.Expires, 10*time.Minute)
		require.NotContains(t, out, secret)
		var user userShown
		require.NoError(t, json.Unmarshal([]byte(must(t, "user", "list", "--json", "--data", data)), &user))
		require.Equal(t, "admin@localhost", user.Address)
		require.Empty(t, must(t, "bridge", "list", "--json", "--data", data))
		require.Empty(t, must(t, "user", "devices", "--json", "--data", data, user.Address))
		require.Empty(t, must(t, "user", "consents", "--json", "--data", data, user.Address))
		require.Contains(t, must(t, "user", "devices", "--data", data, user.Address), "TRUSTED SINCE")
	}
	lists()
	startProcess(t, data, "--listen", "127.0.0.1:0")
	lists()
	var v map[string]string
	require.NoError(t, json.Unmarshal([]byte(must(t, "version", "--json")), &v))
	require.Equal(t, version(), v["version"])
}

// What init prints is what a bridge can start with, and the token that it says to make is its
// owner's alone.
func TestWhatInitSaysIsGood(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "cloud")
	said := must(t, "init", "--data", data, "--account", "Site")
	lines := regexp.MustCompile(`(?m)^  ((?:bridge|service): .*)$`).FindAllStringSubmatch(said, -1)
	require.Len(t, lines, 2, said)
	command := regexp.MustCompile(`(?m)^A token for a bridge:\s+(.*)$`).FindStringSubmatch(said)
	require.NotNil(t, command, said)
	sh := exec.CommandContext(t.Context(), "sh", "-c", "umask 022; "+command[1])
	sh.Dir, sh.Env = dir, append(os.Environ(), asProgram+"=1")
	out, err := sh.CombinedOutput()
	require.NoError(t, err, "%s", out)
	info, err := os.Stat(filepath.Join(dir, "service.token"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	file := filepath.Join(dir, "vmsbridge.yaml")
	require.NoError(t, os.WriteFile(file, []byte(lines[0][1]+"\n"+lines[1][1]+"\n"), 0o600))
	cfg, err := configs.Load(file)
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:8470", cfg.Service.URL)
	for _, w := range cfg.Warnings {
		require.NotContains(t, w.Message, "may read", "the token is nobody else's")
	}
}

// Wrong command lines are one line and 64; without an account it is 78; unknown ids name those
// there are.
func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{{"fly"}, {"run", "--fast"}, {"token", "create"}, {"help", "fly"}} {
		out, errs, code := vmscloud(t, args...)
		require.Equal(t, 64, code, "%v", args)
		require.Empty(t, out, "%v", args)
		require.Equal(t, 1, strings.Count(errs, "\n"), "%v: %s", args, errs)
	}
	for _, args := range [][]string{{"--version"}, {"help"}, {"help", "token"}, {"token"}, {"bridge"},
		{"completion", "zsh"}} {
		must(t, args...)
	}
	data := filepath.Join(t.TempDir(), "none")
	for _, args := range [][]string{{"run"}, {"token", "list"}, {"user", "list"}, {"backup", data + ".backup"}} {
		_, errs, code := vmscloud(t, append(args, "--data", data)...)
		require.Equal(t, 78, code, "%v", args)
		require.Contains(t, errs, "vmscloud init --data "+data, "%v", args)
	}
	must(t, "init", "--data", data, "--account", "Site")
	_, errs, code := vmscloud(t, "bridge", "release", "--data", data, "attic")
	require.Equal(t, 1, code)
	require.Contains(t, errs, `has no bridge "attic": there is none`)
	startProcess(t, data, "--listen", "127.0.0.1:0")
	_, errs, _ = vmscloud(t, "camera", "release", "--data", data, "attic")
	require.Contains(t, errs, `has no camera "attic": there is none`)
}
