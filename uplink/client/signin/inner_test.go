package signin

import (
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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

func TestPlace(t *testing.T) {
	const https, plain = "https://login.example.com", "http://127.0.0.1:8470"
	for _, c := range []struct{ door, said, want string }{
		{https, `{"hostname":"api.c000.example.com","port":443}`, "https://api.c000.example.com"},
		{https, `{"hostname":"api.example.com","port":8443}`, "https://api.example.com:8443"},
		{https, `{"port":"8443","x":{},"hostname":"api.example.com"}`, "https://api.example.com:8443"},
		{https, `{"hostname":"api.example.com"}`, "https://api.example.com"},
		{https, `{"hostname":"api.example.com","port":null}`, "https://api.example.com"},
		{https, `{"hostname":"api.example.com","port":0}`, "https://api.example.com"},
		{https, `{"hostname":"api.example.com:8443","port":443}`, "https://api.example.com:8443"},
		{https, `{"hostname":"api.example.com/eu/","port":443}`, "https://api.example.com/eu"},
		{https, `{"hostname":"https://api.example.com/eu"}`, "https://api.example.com/eu"},
		{https, `"https://api.example.com"`, "https://api.example.com"},
		{https, `"https://api.example.com:8443/eu/"`, "https://api.example.com:8443/eu"},
		{https, `"api.example.com"`, "https://api.example.com"},
		{https, `"http://api.example.com"`, "https://api.example.com:80"}, // the token is not sent in the open
		{https, `{"hostname":"login.example.com","port":80}`, "https://login.example.com:80"},
		{https, `{"hostname":"LOGIN.example.com","port":443}`, https},
		{https + ":8443", `{"hostname":"login.example.com"}`, https + ":8443"},
		{https + ":8443", `{"hostname":"login.example.com","port":443}`, https},
		{https, `{"hostname":"::1","port":8443}`, "https://[::1]:8443"},
		{https, `{"hostname":"[::1]"}`, "https://[::1]"},
		{https, `"::1"`, "https://[::1]"},
		{plain, `{"hostname":"127.0.0.1","port":8470}`, plain},
		{plain + "/", `{"hostname":"127.0.0.1","port":"8470"}`, plain},
		{plain, `{"hostname":"127.0.0.1"}`, plain},
		{plain, `"http://127.0.0.1:8470/v"`, plain + "/v"},
		{plain, `{"hostname":"127.0.0.1","port":8471}`, "https://127.0.0.1:8471"},
		{"http://cloud/", `{"hostname":"cloud","port":80}`, "http://cloud"},
		{"http://cloud", `"http://cloud"`, "http://cloud"},
		{"http://cloud/in", `"http://cloud"`, "http://cloud/in"},
	} {
		var p place
		require.NoError(t, json.Unmarshal([]byte(c.said), &p))
		require.Equal(t, c.want, p.address(c.door), "%+v", c)
	}
	for _, none := range []string{`{}`, `null`, `""`, `7`, `[]`, `{"hostname":7}`, `{"hostname":"a b"}`, `{"hostname":"x@b","port":443}`, `{"hostname":"a","port":70000}`,
		`{"hostname":"a","port":-1}`, `{"hostname":"a","port":"x"}`, `{"hostname":"a","port":4.5}`, `{"hostname":"a?x"}`, `{"hostname":"a#x"}`, `{"hostname":"a%2f"}`, `{"hostname":"a\\b"}`,
		`"ftp://a"`, `"https://"`, `"//a"`, `"https://u:p@a"`, `"https://a:b"`} {
		var p place
		require.NoError(t, json.Unmarshal([]byte(none), &p))
		require.Empty(t, p.address(https), none)
	}
}

func TestSeconds(t *testing.T) {
	for said, want := range map[string]seconds{"3600": 3600, `"3600"`: 3600, "3599.6": 3599, "null": 0, `""`: 0, `"soon"`: 0, "-5": 0, "{}": 0, "1e300": seconds(longest / time.Second), "0": 0} {
		var in issued
		require.NoError(t, json.Unmarshal([]byte(`{"access_token":"a","expires_in":`+said+`}`), &in), said)
		require.Equal(t, want, in.Seconds, said)
	}
}

func FuzzPlace(f *testing.F) {
	for _, seed := range []string{"api.example.com", "https://a:1/b", "[::1]:5", "::1", "a:b:c",
		"https://[fe80::1%25eth0]/"} {
		f.Add(seed, "443")
	}
	f.Fuzz(func(t *testing.T, name, port string) {
		raw, err := json.Marshal(map[string]string{"hostname": name, "port": port})
		require.NoError(t, err)
		var p place
		require.NoError(t, json.Unmarshal(raw, &p))
		got := p.address("https://login.example.com")
		if got == "" {
			return
		}
		u, err := url.Parse(got)
		require.NoError(t, err)
		require.Equal(t, "https", u.Scheme)
		require.NotEmpty(t, u.Hostname())
		require.Nil(t, u.User)
		require.Empty(t, u.RawQuery+u.Fragment)
	})
}
