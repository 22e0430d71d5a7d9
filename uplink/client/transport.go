package client

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// transport keeps a few connections open, so that a backlog drains without a handshake for every event. The proxy is that
// of the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY) as it is now; one that is wrong fails every request rather than
// being left out.
func transport(o Options) (*http.Transport, error) {
	proxy := httpproxy.FromEnvironment().ProxyFunc()
	t := &http.Transport{
		Proxy:                  func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  25 * time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConns:           32,
		MaxIdleConnsPerHost:    32,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true,
	}
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read certificate authorities: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read certificate authorities: %s holds no certificate in PEM form", o.CAFile)
		}
		t.TLSClientConfig.RootCAs = pool
	}
	if o.Fingerprint != "" {
		pin, err := hex.DecodeString(strings.ReplaceAll(o.Fingerprint, ":", ""))
		if err != nil || len(pin) != sha256.Size {
			return nil, errors.New("the fingerprint of the service's certificate must be a SHA-256, 64 hex digits")
		}
		// The one certificate is trusted for what it is: not for its name, its issuer or its dates.
		t.TLSClientConfig.InsecureSkipVerify = true //nolint:gosec // VerifyConnection does it
		t.TLSClientConfig.VerifyConnection = func(s tls.ConnectionState) error { return pinned(s, pin) }
	}
	return t, nil
}

// errNotPinned is in the chain of the error for a certificate that is not the pinned one.
var errNotPinned = errors.New("the service shows another certificate than service.tls_fingerprint says")

// pinned checks the certificate that the service has proved to be its own.
func pinned(s tls.ConnectionState, pin []byte) error {
	if len(s.PeerCertificates) == 0 {
		return fmt.Errorf("%w: none", errNotPinned)
	}
	if seen := sha256.Sum256(s.PeerCertificates[0].Raw); !bytes.Equal(seen[:], pin) {
		return fmt.Errorf("%w: its fingerprint is %x", errNotPinned, seen)
	}
	return nil
}
