package vms

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// The Host of a request is repeated only where it can be believed.
func TestHere(t *testing.T) {
	known := func(name string) bool { return name == "bridge.local" }
	for _, c := range []struct{ host, local, want string }{
		{"evil.example", "192.0.2.7:8470", "http://192.0.2.7:8470"},
		{"evil.example:80", "[2001:db8::7]:8470", "http://[2001:db8::7]:8470"},
		{"evil.example", "127.0.0.1:8470", "http://127.0.0.1:8470"},
		{"localhost.evil.example", "[::1]:8470", "http://[::1]:8470"},
		{"127.0.0.1.evil.example", "192.0.2.7:8470", "http://192.0.2.7:8470"},
		{"203.0.113.9:8470", "192.0.2.7:8470", "http://192.0.2.7:8470"},
		{"user@evil.example", "192.0.2.7:8470", "http://192.0.2.7:8470"},
		{"", "192.0.2.7:8470", "http://192.0.2.7:8470"},
		{"192.0.2.7:9999", "192.0.2.7:8470", "http://192.0.2.7:9999"},
		{"localhost:9999", "127.0.0.1:8470", "http://localhost:9999"},
		{"127.0.0.1:9999", "127.0.0.1:8470", "http://127.0.0.1:9999"},
		{"[::1]:9999", "[::1]:8470", "http://[::1]:9999"},
		{"Bridge.Local.:9999", "192.0.2.7:8470", "http://Bridge.Local.:9999"},
		{"bridge.local", "192.0.2.7:8470", "http://bridge.local"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = c.host
		at, err := net.ResolveTCPAddr("tcp", c.local)
		require.NoError(t, err)
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(at)))
		require.Equal(t, c.want, Here(r, nil, known).String(), "%+v", c)
		public := &url.URL{Scheme: "https", Host: "vms.example"}
		require.Equal(t, public, Here(r, public, known))
		r.TLS = &tls.ConnectionState{}
		require.Equal(t, "https", Here(r, nil, known).Scheme)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = "evil.example"
	require.Equal(t, "http://localhost", Here(r, nil, nil).String())
}

func TestBaseOf(t *testing.T) {
	for text, want := range map[string]BaseURL{"http://h": {Hostname: "h", Port: 80},
		"https://h": {Hostname: "h", Port: 443}, "http://[::1]:8470": {Hostname: "::1", Port: 8470}} {
		u, err := url.Parse(text)
		require.NoError(t, err)
		require.Equal(t, want, BaseOf(u), text)
	}
}
