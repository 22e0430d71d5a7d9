package oauth_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/oauth"
	"vmsbridge/uplink/identity/web"
)

// A page of an origin that is configured gets tokens; a browser that asks first is answered
// everywhere.
func TestOtherOrigins(t *testing.T) {
	const app = "https://app.example"
	b := newFixture(t, func(wo *web.Options, _ *oauth.Options) { wo.Origins = []string{app} })
	from := func(origin string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Origin", origin) }
	}
	for path, methods := range map[string][]string{"/oauth2/token": {"POST"}, "/oauth2/revoke": {"POST"},
		"/oauth2/authorize": {"GET", "POST"},
		"/oauth2/clients":   {"GET", "POST", "DELETE"}, "/oauth2/keys": {"DELETE"},
		"/oauth2/consents": {"GET", "DELETE"}} {
		r := b.do("OPTIONS", path, nil, from(app))
		require.Equal(t, 204, r.code, path)
		require.Equal(t, app, r.header.Get("Access-Control-Allow-Origin"), path)
		for _, m := range methods {
			require.Contains(t, r.header.Get("Allow"), m, path)
			require.Contains(t, r.header.Get("Access-Control-Allow-Methods"), m, path)
		}
		r = b.do("OPTIONS", path, nil, from("https://evil.example"))
		require.Equal(t, 204, r.code, path)
		require.Empty(t, r.header.Get("Access-Control-Allow-Origin"), path)
	}
	key := b.signIn("ru@c")
	r := b.do("POST", "/oauth2/token?grant_type=cookie", nil, cookie(key), from(app))
	require.Equal(t, 200, r.code, "%v", r.body)
	require.Equal(t, []string{app, "true"}, []string{r.header.Get("Access-Control-Allow-Origin"),
		r.header.Get("Access-Control-Allow-Credentials")})
	r = b.do("POST", "/oauth2/token?grant_type=cookie", nil, cookie(key), from("https://evil.example"))
	require.Equal(t, 403, r.code)
	require.Empty(t, r.header.Get("Access-Control-Allow-Origin"))
	r = b.do("OPTIONS", oauth.PathReseller, nil, from("https://anyone.example"))
	require.Equal(t, []any{204, "*", ""}, []any{r.code, r.header.Get("Access-Control-Allow-Origin"),
		r.header.Get("Access-Control-Allow-Credentials")})
}
