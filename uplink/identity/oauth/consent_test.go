package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/web"
	"vmsbridge/uplink/vms"
)

// asks is the query of a request for a code.
func asks(id string, pairs ...string) string {
	q := url.Values{"response_type": {"code"}, "client_id": {id}, "state": {"s"}}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q.Encode()
}

// parameter is one of the address that an answer sends to.
func parameter(t *testing.T, r reply, name string) string {
	t.Helper()
	to, err := url.Parse(r.header.Get("Location"))
	require.NoError(t, err)
	return to.Query().Get(name)
}

// Whoever has not agreed is asked once for a client and what it may do; nobody else can agree for
// them.
func TestConsent(t *testing.T) {
	b := newFixture(t)
	id, secret := b.client("m", map[string]any{"name": `<script>alert(1)</script>` + "\u202e & Co"})
	key, other := b.signIn("ru@c"), b.signIn("ru@c")
	get := func(key, query string) reply { return b.do("GET", "/oauth2/authorize?"+query, nil, cookie(key)) }
	post := func(key, query string, form url.Values, more ...func(*http.Request)) reply {
		return b.do("POST", "/oauth2/authorize?"+query, form, append(more, cookie(key))...)
	}
	page := get(key, asks(id))
	require.Equal(t, 200, page.code)
	require.Empty(t, page.header.Get("Location"), "a link alone gets no code")
	for _, text := range []string{"&lt;script&gt;alert(1)&lt;/script&gt; &amp; Co", "Account m", "ru@c", "Account c",
		"<strong>app.example.org</strong>", "see your cameras, events and pictures"} {
		require.Contains(t, page.html, text)
	}
	for _, text := range []string{"<script", "\u202e", key, "do everything"} {
		require.NotContains(t, page.html, text)
	}
	policy := page.header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.Contains(t, policy, "frame-ancestors 'none'")
	require.Contains(t, policy, "form-action 'self' https://app.example.org;")
	require.NotContains(t, policy, "unsafe")

	proof := proofOf(page)
	yes := func(proof string) url.Values { return url.Values{"decision": {"allow"}, "proof": {proof}} }
	for name, r := range map[string]reply{
		"another session's":  post(other, asks(id), yes(proof)),
		"for something else": post(key, asks(id, "scope", "vms.all"), yes(proof)),
		"none":               post(key, asks(id), yes("")),
		"another site": post(key, asks(id), yes(proof),
			func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }),
	} {
		require.Equal(t, 403, r.code, name)
		require.Empty(t, r.header.Get("Location"), name)
	}
	require.Equal(t, 200, b.do("GET", "/oauth2/authorize?"+asks(id)+"&decision=allow&proof="+proof, nil,
		cookie(key)).code, "a link is no answer")
	require.Equal(t, "access_denied", parameter(t,
		post(key, asks(id), url.Values{"decision": {"deny"}, "proof": {proof}}), "error"))
	require.Equal(t, "consent_required", parameter(t, b.do("GET", "/oauth2/authorize?A="+key+"&"+asks(id), nil),
		"error"), "who has no browser")
	code := parameter(t, post(key, asks(id), yes(proof)), "code")
	tokens := b.token(basic(id, secret), "grant_type", "authorization_code", "code", code)
	require.Equal(t, "vms.read", tokens.text("scope"), "little, unless more is asked for")

	// It is asked once, until more is asked for.
	require.NotEmpty(t, parameter(t, get(other, asks(id)), "code"))
	more := get(key, asks(id, "scope", "vms.all"))
	require.Contains(t, more.html, "do everything")
	require.NotEmpty(t, parameter(t, post(key, asks(id, "scope", "vms.all"), yes(proofOf(more))), "code"))
	for _, scope := range []string{"vms.all", "vms.read vms.report", ""} {
		require.NotEmpty(t, parameter(t, get(key, asks(id, "scope", scope)), "code"), scope)
	}
	require.Equal(t, 200, get(b.signIn("asu@c"), asks(id)).code, "another user is asked")

	// It is listed, and taken back with all that came of it.
	list := b.do("GET", "/oauth2/consents", nil, cookie(key))
	require.Len(t, list.body["results"], 1, "%v", list.body)
	require.Contains(t, list.html, id)
	require.Empty(t, b.do("GET", "/oauth2/consents", nil, cookie(b.signIn("asu@c"))).body["results"])
	require.Equal(t, 401, b.do("GET", "/oauth2/consents", nil).code)
	require.NotEmpty(t, b.opens(tokens.text("access_token")))
	late := parameter(t, get(key, asks(id)), "code")
	require.Equal(t, 404, b.do("DELETE", "/oauth2/consents?id=x", nil, cookie(key)).code)
	require.Equal(t, 403, b.do("DELETE", "/oauth2/consents?id="+id, nil, cookie(key),
		func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }).code)
	require.Equal(t, 204, b.do("DELETE", "/oauth2/consents?id="+id, nil, cookie(key)).code)
	require.Empty(t, b.opens(tokens.text("access_token")))
	require.Equal(t, "invalid_grant", b.token(basic(id, secret), "grant_type", "refresh_token", "refresh_token",
		tokens.text("refresh_token")).text("error"))
	require.Equal(t, "invalid_grant", b.token(basic(id, secret), "grant_type", "authorization_code", "code",
		late).text("error"))
	require.NotEmpty(t, proofOf(get(key, asks(id))), "asked anew")
}

// An account that shut its reseller out of video shuts out the clients that the reseller
// registered, wherever and however they come by a token; its own go on.
func TestShutResellersStayShut(t *testing.T) {
	b := newFixture(t)
	above, aboveSecret := b.client("m", nil)
	own, ownSecret := b.client("c", nil)
	into := b.signIn("asu@m")
	require.Equal(t, 200, b.do("POST", "/g/aaa/switch_account", map[string]string{"account_id": "c"},
		cookie(into)).code)
	r := b.do("POST", "/oauth2/clients", map[string]any{"name": "Helpful", "redirect_uris": []string{back}},
		cookie(into))
	require.Equal(t, 201, r.code)
	within, withinSecret := r.text("client_id"), r.text("client_secret")
	key := b.signIn("ru@c")
	tokens := map[string]string{}
	for name, c := range map[string][2]string{"above": {above, aboveSecret}, "within": {within, withinSecret},
		"own": {own, ownSecret}} {
		_, q := b.code(key, "client_id", c[0])
		r := b.token(basic(c[0], c[1]), "grant_type", "authorization_code", "code", q.Get("code"))
		tokens[name] = r.text("access_token")
		tokens[name+", later"] = b.token(basic(c[0], c[1]), "grant_type", "refresh_token", "refresh_token",
			r.text("refresh_token")).text("access_token")
		tokens[name+", by password"] = b.token(basic(c[0], c[1]), "grant_type", "password", "username", "ru@c",
			"password", password).text("access_token")
	}
	tokens["within, a machine"] = b.token(basic(within, withinSecret), "grant_type",
		"client_credentials").text("access_token")
	tokens["own, a machine"] = b.token(basic(own, ownSecret), "grant_type", "client_credentials").text("access_token")
	tokens["own, a session"] = b.token(cookie(key), "grant_type", "cookie").text("access_token")
	tokens["switched"] = b.token(cookie(into), "grant_type", "cookie").text("access_token")
	sees := func(token string) bool {
		p, err := b.Store.Authenticate(token)
		require.NoError(t, err)
		require.Equal(t, "c", p.AccountID)
		require.Equal(t, p.ViewsEvents(), p.Views("main"))
		require.True(t, p.Kind != identity.KindBridge || p.May(identity.ScopeReport) &&
			p.Reports(vms.Actor{Type: vms.ActorCamera, ID: "x"}), "a bridge goes on reporting")
		return p.ViewsEvents() && p.May(identity.ScopeRead)
	}
	for _, shut := range []bool{false, true, false} {
		b.EditAccount("c", func(a *model.Account) { a.IsVideoDisabled = model.Flag(shut) })
		for name, token := range tokens {
			require.Equal(t, !shut || strings.HasPrefix(name, "own"), sees(token), "%s, shut: %v", name, shut)
		}
	}
	b.EditAccount("c", func(a *model.Account) { a.IsVideoDisabled = true })
	require.Equal(t, 204, b.do("DELETE", "/oauth2/clients?id="+within, nil, cookie(b.signIn("asu@c"))).code)
	_, err := b.Store.Authenticate(tokens["within"])
	require.ErrorIs(t, err, identity.ErrUnknown)
}

// With no page of its own configured, the service signs browsers in.
func TestSignInByThePage(t *testing.T) {
	codes := &sender{}
	b := newFixture(t, withCodes(codes))
	id, _ := b.client("c", nil)
	b.EditUser("asu@c", func(u *model.User) { u.IsFactorEnabled = true })
	html := func(r *http.Request) { r.Header.Set("Accept", "text/html,*/*;q=0.8") }
	page := b.do("GET", "/oauth2/authorize?"+asks(id), nil, html)
	require.Equal(t, 200, page.code)
	require.Contains(t, page.html, `action="sign-in?client_id=`+id+`&amp;response_type=code&amp;state=s"`)
	require.Contains(t, page.header.Get("Content-Security-Policy"), "form-action 'self' https://app.example.org;")
	require.Equal(t, 200, b.do("HEAD", "/oauth2/authorize?"+asks(id), nil, html).code, "HEAD asks as GET does")
	require.Equal(t, 401, b.do("GET", "/oauth2/authorize?"+asks(id), nil).code, "programs are told so")
	step := func(more ...string) reply {
		form := url.Values{}
		for i := 0; i < len(more); i += 2 {
			form.Set(more[i], more[i+1])
		}
		return b.do("POST", "/oauth2/sign-in?"+asks(id), form)
	}
	session := func(r reply) (key string) {
		for _, line := range r.header.Values("Set-Cookie") {
			if c, err := http.ParseSetCookie(line); err == nil && c.Name == api.CookieSession {
				require.True(t, c.HttpOnly)
				key = c.Value
			}
		}
		return key
	}
	wrong := step("username", `ru@c"><b>`, "password", "wrong wrong 1")
	require.Equal(t, 401, wrong.code)
	require.Empty(t, session(wrong))
	require.Contains(t, wrong.html, "the address or the password is wrong")
	require.NotContains(t, wrong.html, "<b>")
	require.NotContains(t, wrong.html, "wrong wrong 1")
	in := step("username", "ru@c", "password", password)
	require.Equal(t, 303, in.code)
	require.Equal(t, "authorize?client_id="+id+"&response_type=code&state=s", in.header.Get("Location"))
	require.NotEmpty(t, proofOf(b.do("GET", "/oauth2/"+in.header.Get("Location"), nil, cookie(session(in)))),
		"and now they are asked")
	for name, change := range map[string]func(*http.Request){
		"origin": func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"A":      func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site"); r.URL.RawQuery += "&A=x" },
	} {
		r := b.do("POST", "/oauth2/sign-in?"+asks(id), url.Values{"username": {"ru@c"}, "password": {password}}, change)
		require.Equal(t, 403, r.code, name)
		require.Empty(t, session(r), name)
	}
	require.Equal(t, 400, b.do("POST", "/oauth2/sign-in?client_id=x",
		url.Values{"username": {"ru@c"}, "password": {password}}).code)

	// Two factors take two steps more.
	field := func(r reply, name string) string {
		_, after, _ := strings.Cut(r.html, `name="`+name+`" value="`)
		value, _, _ := strings.Cut(after, `"`)
		return strings.NewReplacer("&#43;", "+", "&amp;", "&").Replace(value)
	}
	first := step("username", "asu@c", "password", password)
	require.Equal(t, 200, first.code)
	require.Empty(t, session(first))
	require.Contains(t, first.html, "by mail to a***@c")
	token := field(first, "token")
	sent := step("token", token, "type", "email", "email", "a***@c")
	require.Equal(t, 200, sent.code, sent.html)
	require.Contains(t, sent.html, `name="code"`)
	bad := step("token", token, "code", other4(codes.last()))
	require.Equal(t, 406, bad.code)
	require.Contains(t, bad.html, "the code is wrong")
	require.NotEmpty(t, session(step("token", token, "code", codes.last())))
	over := step("token", token, "code", codes.last())
	require.Empty(t, session(over))
	require.Contains(t, over.html, `name="password"`, "it begins anew")
}

// Too many tries are refused in the words of the page.
func TestSignInPageIsLimited(t *testing.T) {
	b := newFixture(t, func(wo *web.Options, _ *oauthOptions) {
		wo.Limits.PerUser = web.Limit{Burst: 2,
			Every: 3600e9}
	})
	id, _ := b.client("c", nil)
	var r reply
	for range 3 {
		r = b.do("POST", "/oauth2/sign-in?"+asks(id), url.Values{"username": {"ru@c"}, "password": {"wrong wrong 1"}})
	}
	require.Equal(t, 429, r.code)
	require.Contains(t, r.html, "too many requests")
}
