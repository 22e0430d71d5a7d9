package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/api"
	"vmsbridge/configs"
)

// A first start makes a configuration only where none is named, none is there and nothing is in the
// way; what it makes is a good one, which the next start and every other command use.
func TestFirstStart(t *testing.T) {
	if _, err := os.Stat(defaultConfig); err == nil {
		t.Skip("this machine has a bridge's configuration: move /etc/vmsbridge/vmsbridge.yaml away to run this")
	}
	var out bytes.Buffer
	s := streams{out: &out, err: &out}
	dir := t.TempDir()
	t.Chdir(dir)
	file, err := firstStart(filepath.Join(dir, "other.yaml"), "", s)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "other.yaml"), file)
	require.NoFileExists(t, file, "a name that was mistyped makes no other bridge")

	_, err = firstStart(usualConfig(), "nonsense", s)
	require.ErrorContains(t, err, "must be host:port")
	require.NoFileExists(t, hereConfig)

	file, err = firstStart(usualConfig(), "", s)
	require.NoError(t, err)
	require.Equal(t, hereConfig, file)
	require.Contains(t, out.String(), filepath.Join(dir, hereConfig))
	cfg, err := configs.Load(file)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "data"), cfg.Bridge.Data)
	require.Equal(t, "0.0.0.0:8480", cfg.API.Listen)
	require.True(t, cfg.MakesCertificate(), "passwords do not go over the network in the clear")
	require.Equal(t, hereConfig, usualConfig())
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(hereConfig, 65534, -1))
		require.Equal(t, defaultConfig, usualConfig(), "that of somebody else")
	}

	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "letter.txt"), nil, 0o600))
	t.Chdir(full)
	r := do(t, "run")
	require.Equal(t, exitConfig, r.code)
	require.Contains(t, r.err, "in an empty folder")
	require.Contains(t, r.err, "letter.txt", "why there is none here")
	require.NoFileExists(t, hereConfig)
}

func TestWhereThePageIs(t *testing.T) {
	cfg := configs.Default()
	require.Equal(t, []string{"http://127.0.0.1:8480/"},
		pages(cfg, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8480}))
	cfg.API.TLS.Cert = "x"
	all := pages(cfg, &net.TCPAddr{IP: net.IPv4zero, Port: 8480})
	require.Contains(t, all, "https://127.0.0.1:8480/")
	cfg.API.PublicURL = "https://bridge.example"
	require.Equal(t, []string{"https://bridge.example/"}, pages(cfg, &net.TCPAddr{}))

	var out bytes.Buffer
	sayPages(all, "c0de", streams{out: &out})
	require.Equal(t, len(all), strings.Count(out.String(), "/#code=c0de\n"))
	require.Contains(t, out.String(), "certificate")
	out.Reset()
	sayPages(all, "", streams{out: &out})
	require.NotContains(t, out.String(), "code")

	// apt keeps what a package says in a log.
	cfg.Bridge.Data = t.TempDir()
	file := filepath.Join(cfg.Bridge.Data, api.FirstUserFile)
	require.NoError(t, os.WriteFile(file, []byte("c0de\n"), 0o600))
	for logged, told := range map[bool]string{true: "sudo cat " + file, false: "#code=c0de"} {
		out.Reset()
		sayWhere(cfg, &net.TCPAddr{}, logged, streams{out: &out})
		require.Contains(t, out.String(), told)
		require.Equal(t, logged, !strings.Contains(out.String(), "c0de"))
	}
}
