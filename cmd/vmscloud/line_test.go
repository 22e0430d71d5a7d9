package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
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

// Every command that says something says it as JSON, too: it has the flag, and prints one object.
func TestWhatCommandsSayAsJSON(t *testing.T) {
	var grammar commands
	parser, err := kong.New(&grammar)
	require.NoError(t, err)
	for _, c := range parser.Model.Leaves(true) {
		switch path := c.Path(); path {
		case "run", "help", "completion":
		default:
			require.True(t, slices.ContainsFunc(c.Flags, func(f *kong.Flag) bool { return f.Name == "json" }), path)
		}
		for _, f := range c.Flags {
			require.NotContains(t, f.Help, "%%", "it is shown as it is")
		}
	}

	dir := t.TempDir()
	data, backup := filepath.Join(dir, "cloud"), filepath.Join(dir, "backup")
	say := func(args ...string) map[string]any {
		t.Helper()
		var o map[string]any
		out := must(t, append(args, "--json", "--data", data)...)
		require.NoError(t, json.Unmarshal([]byte(out), &o), "%v: %s", args, out)
		return o
	}
	made := say("init", "--account", "Häuser & Co")
	require.NotEmpty(t, made["token"], "with which the user sets a password")
	for _, running := range []bool{false, true} {
		if running {
			startProcess(t, data, "--listen", "127.0.0.1:0")
		}
		token := say("token", "create", "--kind", "bridge", "--name", "Gate")
		require.Equal(t, made["account"], token["account"])
		require.NotEmpty(t, token["token"])
		require.Equal(t, object{"id": token["id"], "name": "Gate", "state": "revoked"},
			object(say("token", "revoke", token["id"].(string))))
		client := say("client", "create", "Wall")
		require.NotEmpty(t, client["secret"])
		require.Equal(t, "deleted", say("client", "delete", client["id"].(string))["state"])
		require.NotContains(t, say("client", "create", "--public", "--redirect", "org.example.app:/cb", "Phone"),
			"secret")
		require.NotEmpty(t, say("user", "link", "admin@localhost")["token"])
		for _, verb := range []string{"unlock", "disable", "enable", "superuser"} {
			require.Equal(t, object{"address": "admin@localhost", "done": verb},
				object(say("user", verb, "admin@localhost")))
		}
		require.Equal(t, "forget-device", say("user", "devices", "admin@localhost", "--forget", "all")["done"])
		require.Positive(t, say("backup", backup+strconv.FormatBool(running))["bytes"])
	}
	data = filepath.Join(dir, "again")
	require.Nil(t, say("restore", backup+"true")["aside"])
	require.Len(t, say("restore", "--force", backup+"true")["aside"], 3)
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
