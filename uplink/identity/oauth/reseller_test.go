package oauth_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/oauth"
)

func target(id string, more ...any) map[string]any {
	out := map[string]any{"type": "reseller", "targetType": "account", "targetId": id}
	for i := 0; i < len(more); i += 2 {
		out[more[i].(string)] = more[i+1]
	}
	return out
}

// A reseller's token is exchanged for one of a sub-account, which may do no more and ends with it.
func TestResellerToken(t *testing.T) {
	b := newFixture(t)
	id, secret := b.client("m", nil)
	parent := b.token(basic(id, secret), "grant_type", "password", "username", "asu@m", "password", password, "scope",
		"vms.all")
	post := func(token string, body any) reply {
		return b.do("POST", oauth.PathReseller, body, bearer(token))
	}
	r := post(parent.text("access_token"), target("c", "scopes", []string{"vms.all"}))
	require.Equal(t, 201, r.code, "%v", r.body)
	require.Equal(t, []any{"vms.all"}, r.body["scopes"])
	require.Equal(t, map[string]any{"hostname": "cloud.example.org", "port": 8443.0}, r.body["httpsBaseUrl"])
	require.Equal(t, b.Now().Add(12*time.Hour).Format("2006-01-02T15:04:05.000+00:00"), r.text("expireTimestamp"))
	below := r.text("accessToken")
	require.Equal(t, "c:asu@m", b.opens(below))
	r = post(below, target("m", "scopes", []string{"vms.read"}))
	require.Equal(t, 201, r.code, "and back again")
	back := r.text("accessToken")
	require.Equal(t, "m:asu@m", b.opens(back))
	require.Equal(t, 400, post(back, target("c", "scopes", []string{"vms.all"})).code, "no more than the token has")
	r = post(back, target("c"))
	require.Equal(t, []any{"vms.read"}, r.body["scopes"], "what it has, if nothing is asked for")

	for name, c := range map[string]struct {
		body any
		want int
	}{
		"an account of nobody's": {target("o"), 404}, "none": {target("x"), 404}, "no body": {nil, 400},
		"another type":   {target("c", "type", "application"), 400},
		"another target": {target("c", "targetType", "user"), 400}, "no id": {target(""), 400},
		"an unknown scope":       {target("c", "scopes", []string{"x"}), 400},
		"an unexpected argument": {target("c", "userId", "1"), 400}, "a list": {[]int{1}, 400},
		"scopes of another form": {target("c", "scopes", "vms.all"), 400},
		"missing":                {map[string]string{"type": "reseller"}, 400},
		"deep":                   {target("c", "scopes", strings.Repeat("[", 8000)), 400},
		"large":                  {target("c", "scopes", []string{strings.Repeat("x", 20000)}), 413},
	} {
		r := post(parent.text("access_token"), c.body)
		require.Equal(t, c.want, r.code, "%s: %v", name, r.body)
		require.EqualValues(t, c.want, r.body["code"], "the form of /api/v3.0: %s", name)
		require.NotEmpty(t, r.body["details"], name)
	}
	require.Equal(t, 415, b.do("POST", oauth.PathReseller, target("c"), bearer(below),
		func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }).code)
	require.Equal(t, 405, b.do("GET", oauth.PathReseller, nil, bearer(below)).code)
	for _, bad := range []string{"", "x", parent.text("refresh_token")} {
		require.Equal(t, 401, post(bad, "{").code, "401 before all else")
	}
	machine := b.token(basic(id, secret), "grant_type", "client_credentials")
	require.Equal(t, 403, post(machine.text("access_token"), target("c")).code)
	require.Equal(t, 404, post(b.token(basic(id, secret), "grant_type", "password", "username", "ru@m", "password",
		password).text("access_token"), target("c")).code, "a user who may not switch")
	require.Equal(t, 404, post(b.token(cookie(b.signIn("asu@c")), "grant_type", "cookie").text("access_token"),
		target("m")).code, "nobody goes upwards")
	require.Equal(t, 404, post(b.token(cookie(b.signIn("asu@o")), "grant_type", "cookie").text("access_token"),
		target("c")).code, "nor sideways")
	b.SetStatus("c", model.StatusSuspended)
	require.Equal(t, 404, post(parent.text("access_token"), target("c")).code)
	require.Empty(t, b.opens(below))
	b.SetStatus("c", model.StatusActive)
	require.NotEmpty(t, b.opens(below))

	b.do("POST", "/oauth2/revoke", map[string]string{"token": parent.text("access_token")}, basic(id, secret))
	require.Empty(t, b.opens(below)+b.opens(back), "it ends with its parent")
}

// A token of a session makes tokens that end with the session, and no later than it.
func TestResellerTokenOfASession(t *testing.T) {
	b := newFixture(t)
	key := b.signIn("asu@m")
	parent := b.token(cookie(key), "grant_type", "cookie")
	b.Advance(11 * time.Hour)
	r := b.do("POST", oauth.PathReseller, target("c"), bearer(parent.text("access_token")))
	require.Equal(t, 201, r.code)
	require.Equal(t, b.Now().Add(time.Hour).Format("2006-01-02T15:04:05.000+00:00"), r.text("expireTimestamp"))
	require.Equal(t, "c:asu@m", b.opens(r.text("accessToken")))
	b.do("POST", "/g/aaa/logout", nil, cookie(key))
	require.Empty(t, b.opens(r.text("accessToken")))
}
