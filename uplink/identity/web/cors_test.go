package web

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/session"
)

// A page of an origin that is configured signs a browser in and uses it; a page of any other reads
// nothing.
func TestOtherOrigins(t *testing.T) {
	const app = "https://app.example"
	b := newFixture(t, func(o *Options, _ *session.Options) { o.Origins, o.Secure = []string{app}, true })
	from := func(origin string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("Origin", origin)
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}
	}
	for _, e := range Endpoints {
		r := b.call(http.MethodOptions, e.Path, "", nil, from(app))
		require.Equal(t, 204, r.code, "%s", e)
		require.Equal(t, []string{app, "true"}, []string{r.header.Get("Access-Control-Allow-Origin"),
			r.header.Get("Access-Control-Allow-Credentials")}, "%s", e)
		require.Contains(t, r.header.Get("Access-Control-Allow-Methods"), e.Method, "%s", e)
		require.Contains(t, r.header.Get("Access-Control-Allow-Headers"), "Authentication", "%s", e)
		for _, other := range []string{"https://evil.example", "null", "http://app.example", app + ".evil.example",
			app + ":444", "HTTPS://APP.EXAMPLE", ""} {
			for _, method := range []string{http.MethodOptions, e.Method} {
				r := b.call(method, e.Path, "", nil, from(other))
				require.Empty(t, r.header.Get("Access-Control-Allow-Origin"), "%s %s", e, other)
				require.Empty(t, r.header.Get("Access-Control-Allow-Credentials"), "%s %s", e, other)
			}
		}
	}
	r := b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password), from(app)).want(200)
	require.Equal(t, app, r.header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, r.header.Get("Vary"), "Origin")
	r = b.call("POST", "/g/aaa/authorize", "", args{"token": r.field("token")}, from(app)).want(200)
	for _, c := range r.cookies {
		require.True(t, c.Secure && c.SameSite == http.SameSiteNoneMode, "else the browser does not keep it: %+v", c)
	}
	require.Equal(t, app, b.call("GET", "/g/aaa/isauth", "", nil,
		from(app)).want(401).header.Get("Access-Control-Allow-Origin"), "what is wrong may be read too")
	token := b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password)).want(200).field("token")
	for _, c := range b.call("POST", "/g/aaa/authorize", "", args{"token": token}).want(200).cookies {
		require.Equal(t, http.SameSiteLaxMode, c.SameSite, "for its own pages")
	}
}
