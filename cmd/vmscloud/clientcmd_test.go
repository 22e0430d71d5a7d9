package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An operator makes a client, which finds the paths by the well-known document, gets a token and
// loses it with the client.
func TestAClientFromTheCommandLine(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	made := strings.Fields(must(t, "client", "create", "--data", c.data, "--account", c.accounts["a"], "--redirect",
		"https://app.example/cb", "--scope", "read", "--quiet", "Wall"))
	require.Len(t, made, 2)
	phone := strings.Fields(must(t, "client", "create", "--data", c.data, "--account", c.accounts["a"], "--redirect",
		"org.example.app:/cb", "--public", "--quiet", "Phone"))
	require.Len(t, phone, 1, "it has no secret")
	var raw []byte
	for _, name := range []string{"oauth-authorization-server", "openid-configuration"} {
		before := raw
		res, err := http.Get(c.p.base + "/.well-known/" + name)
		require.NoError(t, err)
		raw, err = io.ReadAll(res.Body)
		require.NoError(t, errors.Join(err, res.Body.Close()))
		require.True(t, before == nil || string(before) == string(raw), "both names say the same")
	}
	var known struct {
		Issuer string   `json:"issuer"`
		Token  string   `json:"token_endpoint"`
		Begin  string   `json:"authorization_endpoint"`
		End    string   `json:"revocation_endpoint"`
		Grants []string `json:"grant_types_supported"`
	}
	require.NoError(t, json.Unmarshal(raw, &known), "%s", raw)
	require.Equal(t, c.p.base, known.Issuer)
	ask := func(form url.Values) (int, map[string]any) {
		t.Helper()
		res, err := http.PostForm(known.Token, form)
		require.NoError(t, err)
		defer res.Body.Close()
		out := map[string]any{}
		require.NoError(t, json.NewDecoder(res.Body).Decode(&out))
		return res.StatusCode, out
	}
	for _, grant := range known.Grants {
		_, out := ask(url.Values{"grant_type": {grant}, "client_id": {made[0]}, "client_secret": {made[1]}})
		require.NotEqual(t, "unsupported_grant_type", out["error"], grant)
	}
	code, out := ask(url.Values{"grant_type": {"client_credentials"}, "client_id": {made[0]},
		"client_secret": {made[1]}})
	require.Equal(t, 200, code, "%v", out)
	token := out["access_token"].(string)
	require.Equal(t, []string{"cam-a"}, c.list(token, "cameras"))
	require.Contains(t, must(t, "client", "list", "--data", c.data), "https://app.example/cb")
	require.NotContains(t, must(t, "client", "list", "--data", c.data), made[1])
	asJSON := must(t, "client", "list", "--json", "--data", c.data)
	for line := range strings.Lines(asJSON) {
		require.True(t, json.Valid([]byte(line)), line)
	}
	require.Contains(t, asJSON, "https://app.example/cb")
	require.NotContains(t, asJSON, made[1])
	require.Contains(t, must(t, "client", "delete", "--data", c.data, made[0]), "ended")
	code, _ = c.api(token, "GET", "/api/v3.0/cameras", "")
	require.Equal(t, 401, code)
	code, _ = ask(url.Values{"grant_type": {"client_credentials"}, "client_id": {made[0]}, "client_secret": {made[1]}})
	require.Equal(t, 401, code)
	for _, end := range []string{known.Begin, known.End} {
		res, err := http.Get(end)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.NotEqual(t, 404, res.StatusCode, end)
	}
}
