package client_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/client"
	"vmsbridge/uplink/vms"
)

// echo answers the question who the user is.
var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"id":"u","accountId":"acc-1"}`)
})

func user(t *testing.T, o client.Options) error {
	t.Helper()
	o.Token = client.Token("t")
	c, err := client.New(o)
	require.NoError(t, err)
	defer c.Close()
	u, err := c.User(t.Context())
	if err == nil {
		require.Equal(t, "acc-1", u.AccountID)
	}
	return err
}

func TestPinnedCertificate(t *testing.T) {
	s := httptest.NewTLSServer(echo)
	defer s.Close()
	sum := sha256.Sum256(s.Certificate().Raw)
	right := hex.EncodeToString(sum[:])
	sum[0]++
	wrong := hex.EncodeToString(sum[:])
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t,
		os.WriteFile(caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))

	err := user(t, client.Options{BaseURL: s.URL})
	require.ErrorContains(t, err, "service.tls_fingerprint", "nobody vouches for it")
	require.NoError(t, user(t, client.Options{BaseURL: s.URL, CAFile: caFile}))
	require.NoError(t, user(t, client.Options{BaseURL: s.URL, Fingerprint: right}))
	require.NoError(t,
		user(t, client.Options{BaseURL: s.URL, Fingerprint: strings.ToUpper(right[:2]) + ":" + right[2:]}))
	// The pin counts also where an authority vouches for the certificate, and the error says what
	// was seen.
	err = user(t, client.Options{BaseURL: s.URL, CAFile: caFile, Fingerprint: wrong})
	require.ErrorContains(t, err, right)
	var transient *vms.TransientError
	require.ErrorAs(t, err, &transient, "events wait for it to be mended")
	_, err = client.New(client.Options{BaseURL: s.URL, Fingerprint: "abc", Token: client.Token("t")})
	require.ErrorContains(t, err, "64 hex digits")
}

// proxy is a small HTTP proxy, for plain requests and for tunnels. It knows the one name
// service.test.
type proxy struct {
	target          string // host:port of service.test
	plain, tunnels  atomic.Int32
	wantCredentials string
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Proxy-Authorization") != p.wantCredentials {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	if r.Method != http.MethodConnect {
		p.plain.Add(1)
		if r.URL.Hostname() != "service.test" {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		handOn(p.target, w, r)
		return
	}
	p.tunnels.Add(1)
	onward, err := net.Dial("tcp", p.target)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer onward.Close()
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { _, _ = io.Copy(onward, conn); _ = onward.Close() }()
	_, _ = io.Copy(conn, onward)
}

// handOn hands a plain request on.
func handOn(target string, w http.ResponseWriter, r *http.Request) {
	out := r.Clone(r.Context())
	out.RequestURI, out.URL.Host = "", target
	res, err := (&http.Transport{}).RoundTrip(out)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body)
}

// The service's name is known to the proxy alone, so that whatever arrives went through it.
func TestProxyOfTheEnvironment(t *testing.T) {
	plain, secure := httptest.NewServer(echo), httptest.NewTLSServer(echo)
	defer plain.Close()
	defer secure.Close()
	p := &proxy{target: plain.Listener.Addr().String()}
	front := httptest.NewServer(p)
	defer front.Close()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
		"REQUEST_METHOD"} {
		t.Setenv(name, "")
	}
	t.Setenv("HTTP_PROXY", front.URL)
	require.NoError(t, user(t, client.Options{BaseURL: "http://service.test"}))
	require.EqualValues(t, 1, p.plain.Load())

	// https goes through a tunnel, in which the certificate is checked as without a proxy.
	t.Setenv("HTTPS_PROXY", front.URL)
	p.target = secure.Listener.Addr().String()
	sum := sha256.Sum256(secure.Certificate().Raw)
	require.NoError(t,
		user(t, client.Options{BaseURL: "https://service.test", Fingerprint: hex.EncodeToString(sum[:])}))
	require.EqualValues(t, 1, p.tunnels.Load())
	require.ErrorContains(t, user(t, client.Options{BaseURL: "https://service.test"}), "x509")

	// A proxy that wants credentials gets those of its address, and they are in no error.
	p.wantCredentials = "Basic dXNlcjpodXNo" // user:hush
	err := user(t, client.Options{BaseURL: "https://service.test", Fingerprint: hex.EncodeToString(sum[:])})
	require.Error(t, err)
	u, err := url.Parse(front.URL)
	require.NoError(t, err)
	u.User = url.UserPassword("user", "hush")
	t.Setenv("HTTPS_PROXY", u.String())
	require.NoError(t,
		user(t, client.Options{BaseURL: "https://service.test", Fingerprint: hex.EncodeToString(sum[:])}))
	front.Close()
	err = user(t, client.Options{BaseURL: "https://service.test", Fingerprint: hex.EncodeToString(sum[:])})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hush")

	// NO_PROXY leaves a name out: it is looked up here, in vain.
	before := p.tunnels.Load()
	t.Setenv("NO_PROXY", "service.test")
	require.Error(t, user(t, client.Options{BaseURL: "https://service.test"}))
	require.Equal(t, before, p.tunnels.Load())
}
