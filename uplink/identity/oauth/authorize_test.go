package oauth_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/oauth"
	"vmsbridge/uplink/identity/web"
)

func TestCodeWithPKCE(t *testing.T) {
	b := newFixture(t)
	id, _ := b.client("c", map[string]any{"is_public": true})
	key := b.signIn("ru@c")
	r, q := b.code(key, "client_id", id, "redirect_uri", back, "code_challenge", challenge(), "code_challenge_method",
		"S256", "scope", "vms.read")
	require.Equal(t, 302, r.code, "%v", r.body)
	require.True(t, strings.HasPrefix(r.header.Get("Location"), "https://app.example.org/back?"))
	require.Equal(t, "1", q.Get("x"), "the query of the address stays")
	require.Equal(t, "s t&", q.Get("state"))
	require.Equal(t, "no-referrer", r.header.Get("Referrer-Policy"))

	exchange := func(more ...string) reply {
		return b.token(nil, append([]string{"grant_type", "authorization_code", "client_id", id, "code",
			q.Get("code")}, more...)...)
	}
	require.Equal(t, "invalid_grant", exchange("redirect_uri", back).text("error"), "without the verifier")
	require.Equal(t, "invalid_grant", exchange("redirect_uri", back, "code_verifier", verifier[:42]+"x").text("error"))
	require.Equal(t, "invalid_grant", exchange("redirect_uri", back, "code_verifier", challenge()).text("error"),
		"plain is not S256")
	require.Equal(t, "invalid_grant", exchange("redirect_uri", back+"0", "code_verifier", verifier).text("error"))
	require.Equal(t, "invalid_grant", exchange("code_verifier", verifier).text("error"),
		"the address must be named again")
	other, _ := b.client("c", map[string]any{"is_public": true})
	require.Equal(t, "invalid_grant", exchange("redirect_uri", back, "code_verifier", verifier, "client_id",
		other).text("error"), "another client's")
	tokens := exchange("redirect_uri", back, "code_verifier", verifier)
	require.Equal(t, 200, tokens.code, "%v", tokens.body)
	require.Equal(t, "vms.read", tokens.text("scope"))
	require.Equal(t, "c:ru@c", b.opens(tokens.text("access_token")))
	next := b.token(nil, "grant_type", "refresh_token", "client_id", id, "refresh_token", tokens.text("refresh_token"))
	require.Equal(t, 200, next.code)

	// The code comes again: what came of it ends.
	require.Equal(t, "invalid_grant", exchange("redirect_uri", back, "code_verifier", verifier).text("error"))
	require.Empty(t, b.opens(tokens.text("access_token")))
	require.Empty(t, b.opens(next.text("access_token")))
	require.Equal(t, "invalid_grant", b.token(nil, "grant_type", "refresh_token", "client_id", id, "refresh_token",
		next.text("refresh_token")).text("error"))
}

func TestCodeOfAClientWithASecret(t *testing.T) {
	b := newFixture(t)
	id, secret := b.client("c", nil)
	key := b.signIn("ru@c")
	_, q := b.code(key, "client_id", id) // with one address and without PKCE, as server-side samples do it
	require.Equal(t, "invalid_client", b.token(nil, "grant_type", "authorization_code", "client_id", id, "code",
		q.Get("code")).text("error"))
	require.Equal(t, "invalid_grant", b.token(basic(id, secret), "grant_type", "authorization_code", "code",
		q.Get("code"), "code_verifier", verifier).text("error"), "somebody took the challenge away")
	require.Equal(t, 200, b.token(basic(id, secret), "grant_type", "authorization_code", "code", q.Get("code"),
		"redirect_uri", back).code)
	_, q = b.code(key, "client_id", id)
	b.Advance(5*time.Minute + time.Second)
	require.Equal(t, "invalid_grant", b.token(basic(id, secret), "grant_type", "authorization_code", "code",
		q.Get("code")).text("error"), "too late")
	_, q = b.code(key, "client_id", id)
	b.EditUser("ru@c", func(u *model.User) { u.IsActive = false })
	require.Equal(t, "invalid_grant", b.token(basic(id, secret), "grant_type", "authorization_code", "code",
		q.Get("code")).text("error"))
	b.EditUser("ru@c", func(u *model.User) { u.IsActive = true })
	require.Equal(t, 200, b.token(basic(id, secret), "grant_type", "authorization_code", "code", q.Get("code")).code,
		"what was refused was not used up")
}

func TestAuthorizeRefuses(t *testing.T) {
	b := newFixture(t)
	id, _ := b.client("c", map[string]any{"is_public": true, "scopes": []string{"vms.read"},
		"redirect_uris": []string{back, "http://127.0.0.1/cb", "org.example.app:/cb"}})
	key := b.signIn("ru@c")
	good := []string{"client_id", id, "redirect_uri", back, "code_challenge", challenge(), "code_challenge_method",
		"S256"}
	with := func(more ...string) []string { return append(append([]string{}, good...), more...) }

	// Nobody is sent anywhere that the client did not register.
	for _, to := range []string{"https://evil.org/", "https://app.example.org/back", back + "&y=2",
		"https://app.example.org.evil.org/back?x=1", "http://127.0.0.1:80/other", "http://127.0.0.1@evil.org/cb",
		"http://evil.org/cb", "javascript:alert(1)", "http://[::1]/cb", ""} {
		r, _ := b.code(key, with("redirect_uri", to)...)
		require.Equal(t, 400, r.code, to)
		require.Empty(t, r.header.Get("Location"), to)
	}
	for _, client := range []string{"", "nobody", b.keyID("c")} {
		r, _ := b.code(key, with("client_id", client)...)
		require.Equal(t, 400, r.code)
	}
	for _, to := range []string{"http://127.0.0.1:51004/cb#", "http://127.0.0.1:51004/cb#x", back + "#"} {
		r, _ := b.code(key, with("redirect_uri", to)...)
		require.Equal(t, 400, r.code, to)
	}
	for _, to := range []string{"http://127.0.0.1:51004/cb", "org.example.app:/cb"} {
		r, q := b.code(key, with("redirect_uri", to)...)
		require.Equal(t, 302, r.code)
		require.NotEmpty(t, q.Get("code"), to)
	}
	for name, x := range map[string]struct {
		pairs []string
		want  string
	}{
		"token":        {with("response_type", "token"), "unsupported_response_type"},
		"scope":        {with("scope", "vms.all"), "invalid_scope"},
		"plain":        {with("code_challenge_method", "plain"), "invalid_request"},
		"no method":    {with("code_challenge_method", ""), "invalid_request"},
		"short":        {with("code_challenge", "abc"), "invalid_request"},
		"no challenge": {good[:4], "invalid_request"},
	} {
		r, q := b.code(key, x.pairs...)
		require.Equal(t, 302, r.code, name)
		require.Equal(t, x.want, q.Get("error"), name)
		require.Equal(t, "s t&", q.Get("state"), name)
		require.Empty(t, q.Get("code"))
	}
	// A user of another account, above or beside, is not served.
	for _, email := range []string{"asu@o", "asu@m"} {
		_, q := b.code(b.signIn(email), good...)
		require.Equal(t, "access_denied", q.Get("error"), email)
		require.Empty(t, q.Get("code"))
	}
	r, _ := b.code("", good...)
	require.Equal(t, 401, r.code)
	require.Equal(t, "login_required", r.text("error"))
	r = b.do("POST", "/oauth2/authorize?client_id="+id+
		"&redirect_uri=org.example.app:/cb&response_type=code&code_challenge_method=S256&code_challenge="+challenge(),
		nil, cookie(key),
		func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") })
	require.Equal(t, 403, r.code)
}

func TestSignInPage(t *testing.T) {
	b := newFixture(t, func(_ *web.Options, o *oauth.Options) { o.SignIn = "https://www.example.org/login" })
	id, _ := b.client("c", nil)
	r, q := b.code("", "client_id", id)
	require.Equal(t, 302, r.code)
	require.True(t, strings.HasPrefix(r.header.Get("Location"), "https://www.example.org/login?next="))
	require.Contains(t, q.Get("next"), "/oauth2/authorize?client_id="+id)
}

// keyID is the id of a new API key of an account.
func (b *fixture) keyID(account string) string {
	r := b.do("POST", "/oauth2/keys", map[string]any{"name": "x"}, cookie(b.signIn("asu@"+account)))
	require.Equal(b.t, 201, r.code)
	return r.text("id")
}
