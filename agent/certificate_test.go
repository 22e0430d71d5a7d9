package agent

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vmsbridge/agent/api"

	"github.com/stretchr/testify/require"
)

// certify writes a certificate with a serial number and its key.
func certify(t *testing.T, dir string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	c := &x509.Certificate{SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	require.NoError(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der},
		"key.pem": {Type: "PRIVATE KEY", Bytes: raw}} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
}

// A certificate that was renewed under its old name is served after a reload; one that is broken
// leaves the old one in place.
func TestReloadOfTheCertificate(t *testing.T) {
	dir := t.TempDir()
	certify(t, dir, 1)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	s := &editable{site: &site{t: t, log: &lockedBuffer{}, client: client}}
	text := "bridge: {data: \"" + filepath.Join(dir, "data") + "\"}\napi: {listen: \"127.0.0.1:0\", tls: {cert: \"" +
		dir + "/cert.pem\", key: \"" + dir + "/key.pem\"}}\n"
	s.write(text)
	var err error
	s.cfg, err = s.load()
	require.NoError(t, err)
	_, stop := s.run(func(a *Agent) { a.opts.Load = s.load })
	defer stop()
	s.base = strings.Replace(s.base, "http:", "https:", 1)
	serial := func() int64 {
		res, err := client.Get(s.base + "/healthz")
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	require.EqualValues(t, 1, serial())
	certify(t, dir, 2)
	require.EqualValues(t, 1, serial(), "not before it is asked for")
	require.Empty(t, s.reload().Problems)
	require.EqualValues(t, 2, serial())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "key.pem"), []byte("broken"), 0o600))
	require.Len(t, s.reload().Problems, 1)
	require.EqualValues(t, 2, serial())
	s.write(strings.Split(text, ", tls:")[0] + "}\n")
	require.Equal(t, []string{"api.tls.cert", "api.tls.key"}, s.reload().Restart, "the port speaks TLS, or it does not")
}

// A bridge that makes its certificate itself shows the same one after a reload and a restart, and
// its status tells the fingerprint.
func TestCertificateOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	s := &editable{site: &site{t: t, log: &lockedBuffer{}, client: client}}
	s.write("bridge: {data: \"" + filepath.Join(dir, "data") + "\"}\napi: {listen: \"127.0.0.1:0\", tls: auto}\n")
	var err error
	s.cfg, err = s.load()
	require.NoError(t, err)
	shown := func() string {
		res, err := client.Get(strings.Replace(s.base, "http:", "https:", 1) + "/healthz")
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return api.Fingerprint(res.TLS.PeerCertificates[0].Raw)
	}
	a, stop := s.run(func(a *Agent) { a.opts.Load = s.load })
	first := shown()
	require.Equal(t, first, a.Status().Certificate)
	require.Equal(t, first, api.KeptFingerprint(s.cfg.OwnCertificate()))
	require.Contains(t, s.log.String(), first)
	require.Empty(t, s.reload().Problems)
	require.Equal(t, first, shown())
	stop()
	_, stop = s.run(func(a *Agent) { a.opts.Load = s.load })
	defer stop()
	require.Equal(t, first, shown(), "after a restart")
}
