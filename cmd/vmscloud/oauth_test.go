package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// form posts a form as a client of OAuth does, with its credentials in the header.
func form(t *testing.T, address, id, secret string, pairs ...string) (int, map[string]any) {
	t.Helper()
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", address, strings.NewReader(values.Encode()))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if id != "" {
		r.SetBasicAuth(id, secret)
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	var out map[string]any
	require.NoError(t, json.NewDecoder(res.Body).Decode(&out))
	return res.StatusCode, out
}

// From a session to a client to tokens that open /api/v3.0 of the real program, and on through a
// crash.
func TestOAuthOpensTheAPI(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "password")
	require.NoError(t, os.WriteFile(file, []byte("hunter2hunter2\n"), 0o600))
	data := filepath.Join(dir, "data")
	must(t, "init", "--data", data, "--account", "Demo", "--email", "anna@example.org", "--password-file", file)
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	key := signIn(t, p.base, "anna@example.org", "hunter2hunter2")
	code, made, _ := ask(t, "POST", p.base+"/oauth2/clients", key,
		map[string]any{"name": "Viewer", "scopes": []string{"vms.read"}})
	require.Equal(t, 201, code, "%v", made)
	id, secret := made["client_id"].(string), made["client_secret"].(string)
	code, got := form(t, p.base+"/oauth2/token", id, secret, "grant_type", "password", "username", "anna@example.org",
		"password", "hunter2hunter2")
	require.Equal(t, 200, code, "%v", got)
	base := got["httpsBaseUrl"].(map[string]any)
	require.Equal(t, "127.0.0.1", base["hostname"])
	require.True(t, strings.HasSuffix(p.base, fmt.Sprintf(":%.0f", base["port"])))
	access, refresh := got["access_token"].(string), got["refresh_token"].(string)

	api := clientOf(t, p.base, access)
	user, err := api.User(t.Context())
	require.NoError(t, err)
	require.Equal(t, "anna@example.org", user.Email)
	cameras, err := api.Cameras(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, cameras.Results)
	err = api.Register(t.Context(), vms.Registration{ID: "bridge-1", Name: "Gate", Address: "http://192.0.2.7:8480"})
	require.Error(t, err, "the scope is to read only")

	p.kill()
	p = startProcess(t, data, "--listen", "127.0.0.1:0")
	_, err = clientOf(t, p.base, access).User(t.Context())
	require.NoError(t, err)
	code, next := form(t, p.base+"/oauth2/token", id, secret, "grant_type", "refresh_token", "refresh_token", refresh)
	require.Equal(t, 200, code)
	p.kill()
	p = startProcess(t, data, "--listen", "127.0.0.1:0")
	code, _ = form(t, p.base+"/oauth2/token", id, secret, "grant_type", "refresh_token", "refresh_token", refresh)
	require.Equal(t, 400, code, "it was used before the crash")
	_, err = clientOf(t, p.base, next["access_token"].(string)).User(t.Context())
	require.Error(t, err, "and its family is revoked")
	code, out, _ := ask(t, "POST", p.base+"/g/sso", "", map[string]any{"SAMLResponse": "x"})
	require.Equal(t, 400, code)
	require.Equal(t, "InvalidSAMLResponse", out["reason"])
	for _, text := range []string{access, refresh, secret, key, "hunter2hunter2"} {
		require.NotContains(t, p.logged(), text)
	}

	// With keys required, only those who have one get in.
	code, out, _ = ask(t, "POST", p.base+"/oauth2/keys", key, map[string]any{"name": "Office"})
	require.Equal(t, 201, code)
	require.Zero(t, p.stop())
	p = startProcess(t, data, "--listen", "127.0.0.1:0", "--require-api-key")
	code, _, _ = ask(t, "GET", p.base+"/g/aaa/isauth", key, nil)
	require.Equal(t, 401, code)
	// The first one is the operator's to make: without a key nobody can sign in to make one.
	first := must(t, "token", "create", "--data", data, "--kind", "key", "--name", "first", "--quiet")
	require.Regexp(t, `(?m)^\w+ +key +first `, must(t, "token", "list", "--data", data))
	for _, apiKey := range []string{out["key"].(string), first} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", p.base+"/g/aaa/isauth?A="+key, nil)
		require.NoError(t, err)
		r.Header.Set("Authentication", apiKey+":")
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 200, res.StatusCode)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", p.base+"/api/v3.0/users/self", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+first)
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 401, res.StatusCode, "a key opens nothing by itself")
}

// What a client says that the service is called is not repeated: answers tell the address that it
// reached, or a name that the operator gave.
func TestForeignHostsAreNotRepeated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, data := filepath.Join(dir, "password"), filepath.Join(dir, "data")
	require.NoError(t, os.WriteFile(file, []byte("hunter2hunter2\n"), 0o600))
	must(t, "init", "--data", data, "--account", "Demo", "--email", "anna@example.org", "--password-file", file)
	p := startProcess(t, data, "--listen", "127.0.0.1:0", "--host", "cloud.example.org", "--origin",
		"https://app.example")
	key := signIn(t, p.base, "anna@example.org", "hunter2hunter2")
	token := must(t, "token", "create", "--data", data, "--kind", "user", "--name", "x", "--quiet")
	told := func(method, path, host string) map[string]any {
		r, err := http.NewRequestWithContext(t.Context(), method, p.base+path, nil)
		require.NoError(t, err)
		r.Host = host
		r.Header.Set("Authorization", "Bearer "+token)
		if method == http.MethodPost {
			r.Header.Del("Authorization")
			r.AddCookie(&http.Cookie{Name: "auth_key", Value: key})
		}
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer res.Body.Close()
		var out struct {
			Base map[string]any `json:"httpsBaseUrl"`
		}
		require.Equal(t, 200, res.StatusCode)
		require.NoError(t, json.NewDecoder(res.Body).Decode(&out))
		return out.Base
	}
	for host, want := range map[string]string{"evil.example": "127.0.0.1", "cloud.example.org": "cloud.example.org",
		"localhost:8470": "localhost", "127.0.0.1": "127.0.0.1"} {
		for path, method := range map[string]string{"/api/v3.0/clientSettings": "GET",
			"/oauth2/token?grant_type=cookie": "POST"} {
			got := told(method, path, host)
			require.Equal(t, want, got["hostname"], path)
			if host == "evil.example" {
				require.True(t, strings.HasSuffix(p.base, fmt.Sprintf(":%.0f", got["port"])), "%v", got)
			}
		}
	}
	require.Contains(t, p.logged(), "--host NAME")
}
