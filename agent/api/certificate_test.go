package api

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestKeepCertificate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "own.pem")
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	require.Empty(t, KeptFingerprint(path))
	keep := func(now time.Time, names ...string) (*tls.Certificate, bool) {
		t.Helper()
		pair, made, err := KeepCertificate(path, names, now)
		require.NoError(t, err)
		st, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), st.Mode().Perm())
		require.Equal(t, Fingerprint(pair.Leaf.Raw), KeptFingerprint(path))
		return pair, made
	}
	first, made := keep(now, "bridge.lan", "192.0.2.7")
	require.True(t, made)
	roots := x509.NewCertPool()
	roots.AddCert(first.Leaf)
	for _, name := range []string{"bridge.lan", "192.0.2.7"} {
		_, err := first.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: now})
		require.NoError(t, err, "who was given it trusts it for %s", name)
	}
	require.Regexp(t, `^([0-9A-F]{2}:){31}[0-9A-F]{2}$`, KeptFingerprint(path))
	for _, later := range []time.Duration{time.Hour, 9 * 365 * 24 * time.Hour, -40 * 365 * 24 * time.Hour} {
		again, made := keep(now.Add(later), "other.lan")
		require.False(t, made, "it stays the same, also when the clock is wrong")
		require.Equal(t, first.Leaf.Raw, again.Leaf.Raw)
	}
	renewed, made := keep(first.Leaf.NotAfter.Add(-certificateRenew + time.Hour))
	require.True(t, made, "it is made anew before it ends")
	require.NotEqual(t, first.Leaf.Raw, renewed.Leaf.Raw)
	require.NoError(t, os.WriteFile(path, []byte("torn"), 0o600))
	require.Empty(t, KeptFingerprint(path))
	_, made = keep(now)
	require.True(t, made, "one that cannot be read is replaced")
	require.NoError(t, os.Remove(path))
	early, _ := keep(time.Unix(100, 0))
	require.True(t, early.Leaf.NotAfter.After(now), "a box without the time makes one that is good when it knows it")
}

func TestCertificateNames(t *testing.T) {
	list := certificateNames("0.0.0.0", "", "bridge.example.org")
	require.Contains(t, list, "127.0.0.1")
	require.Contains(t, list, "bridge.example.org")
	require.NotContains(t, list, "0.0.0.0")
	require.NotContains(t, list, "")
}
