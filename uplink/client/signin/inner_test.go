package signin

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

func TestBrandedHost(t *testing.T) {
	for _, c := range []struct{ url, brand, want string }{
		{"https://login.vms.example.com", "acme", "https://acme.vms.example.com"},
		{"https://login.example.com:8443", "acme", "https://acme.example.com:8443"},
		{"https://acme.example.com", "acme", ""},
		{"https://vms.co.uk", "acme", ""},   // acme.co.uk is somebody else's
		{"https://example.com", "acme", ""}, // so is acme.com
		{"http://login.example.com", "acme", ""},
		{"https://localhost", "acme", ""},
		{"https://10.0.0.1", "acme", ""},
		{"https://login.example.com", "evil.example.org/", ""},
		{"https://login.example.com", "a.b", ""},
		{"https://login.example.com", "", ""},
		{"https://login.example.com", "-x", ""},
	} {
		require.Equal(t, c.want, brandedHost(c.url, c.brand), "%+v", c)
	}
}

func TestBaseOf(t *testing.T) {
	for _, c := range []struct {
		door string
		base vms.BaseURL
		want string
	}{
		{"https://login.example.com", vms.BaseURL{Hostname: "api.c000.example.com", Port: 443}, "https://api.c000.example.com"},
		{"https://login.example.com", vms.BaseURL{Hostname: "api.example.com", Port: 8443}, "https://api.example.com:8443"},
		{"https://login.example.com", vms.BaseURL{Hostname: "login.example.com", Port: 80}, "https://login.example.com:80"},
		{"http://127.0.0.1:8470", vms.BaseURL{Hostname: "127.0.0.1", Port: 8470}, "http://127.0.0.1:8470"},
		{"http://cloud/", vms.BaseURL{Hostname: "cloud", Port: 80}, "http://cloud"},
		{"http://127.0.0.1:8470", vms.BaseURL{Hostname: "127.0.0.1", Port: 8471}, "https://127.0.0.1:8471"},
		{"http://a", vms.BaseURL{Hostname: "a/b", Port: 80}, ""},
		{"http://a", vms.BaseURL{Hostname: "x@b", Port: 80}, ""},
		{"http://a", vms.BaseURL{}, ""},
		{"https://a", vms.BaseURL{Hostname: "a", Port: 70000}, ""},
		{"https://a", vms.BaseURL{Hostname: "::1", Port: 8443}, "https://[::1]:8443"},
	} {
		require.Equal(t, c.want, baseOf(c.door, c.base), "%+v", c)
	}
}
