package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/oauth"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/identity/web"
)

func TestPasswordGrant(t *testing.T) {
	b := newFixture(t)
	id, secret := b.client("c", nil)
	r := b.token(basic(id, secret), "grant_type", "password", "username", "ru@c", "password", password)
	require.Equal(t, 200, r.code, "%v", r.body)
	require.Equal(t, map[string]any{"hostname": "cloud.example.org", "port": 8443.0}, r.body["httpsBaseUrl"])
	require.Equal(t, "Bearer", r.text("token_type"))
	require.Equal(t, identity.ScopeRead, r.text("scope"), "who asks for nothing more may look")
	require.Equal(t, identity.ScopeAll, b.token(basic(id, secret), "grant_type", "password", "username", "ru@c",
		"password", password, "scope", "vms.all").text("scope"))
	require.Equal(t, identity.ScopeRead, b.token(cookie(b.signIn("ru@c")), "grant_type", "cookie").text("scope"))
	require.Equal(t, identity.ScopeAll, b.token(basic(id, secret), "grant_type", "client_credentials").text("scope"),
		"a machine may bring a bridge along")
	require.Equal(t, 43200.0, r.body["expires_in"])
	require.Equal(t, "no-store", r.header.Get("Cache-Control"))
	require.Equal(t, "c:ru@c", b.opens(r.text("access_token")))
	require.Empty(t, b.opens(r.text("refresh_token")), "a refresh token opens nothing")
	require.Empty(t, b.opens(secret), "nor does a client's secret")

	// The client may stand in the body, and everything in the query.
	q := url.Values{"grant_type": {"password"}, "username": {"ru@c"}, "password": {password}, "client_id": {id},
		"client_secret": {secret}}
	require.Equal(t, 200, b.do("POST", "/oauth2/token", q).code)
	require.Equal(t, 200, b.do("POST", "/oauth2/token?"+q.Encode(), nil).code)

	for name, x := range map[string]struct {
		auth  func(*http.Request)
		pairs []string
		code  int
		want  string
	}{
		"wrong password": {basic(id, secret),
			[]string{"grant_type", "password", "username", "ru@c", "password", "wrong horse 12"}, 400, "invalid_grant"},
		"unknown address": {basic(id, secret),
			[]string{"grant_type", "password", "username", "x@c", "password", password}, 400, "invalid_grant"},
		"another account": {basic(id, secret),
			[]string{"grant_type", "password", "username", "ru@o", "password", password}, 400, "invalid_grant"},
		"account above": {basic(id, secret),
			[]string{"grant_type", "password", "username", "ru@m", "password", password}, 400, "invalid_grant"},
		"no password": {basic(id, secret), []string{"grant_type", "password", "username", "ru@c"}, 400,
			"invalid_request"},
		"no grant":      {basic(id, secret), nil, 400, "invalid_request"},
		"unknown grant": {basic(id, secret), []string{"grant_type", "magic"}, 400, "unsupported_grant_type"},
		"unknown scope": {basic(id, secret),
			[]string{"grant_type", "password", "username", "ru@c", "password", password, "scope", "vms.all root"},
			400, "invalid_scope"},
		"wrong secret": {basic(id, secret[:len(secret)-2]+"xx"),
			[]string{"grant_type", "password", "username", "ru@c", "password", password}, 401, "invalid_client"},
		"no secret": {nil, []string{"grant_type", "password", "username", "ru@c", "password", password,
			"client_id", id}, 401, "invalid_client"},
		"no client": {nil, []string{"grant_type", "password", "username", "ru@c", "password", password},
			401, "invalid_client"},
		"both ways": {basic(id, secret),
			[]string{"grant_type", "password", "username", "ru@c", "password", password, "client_secret", secret},
			400, "invalid_request"},
		"client is no client": {basic("x", "y"), []string{"grant_type", "client_credentials"}, 401, "invalid_client"},
	} {
		t.Run(name, func(t *testing.T) {
			r := b.token(x.auth, x.pairs...)
			require.Equal(t, x.code, r.code, "%v", r.body)
			require.Equal(t, x.want, r.text("error"))
			require.NotEmpty(t, r.text("error_description"))
			require.Equal(t, x.code == 401 && x.auth != nil, r.header.Get("WWW-Authenticate") != "")
		})
	}
	wrong := b.token(basic(id, secret), "grant_type", "password", "username", "ru@c", "password", "wrong horse 12")
	require.Equal(t, wrong.body, b.token(basic(id, secret), "grant_type", "password", "username", "nobody@c",
		"password", password).body, "one answer for all")
	b.EditUser("ru@c", func(u *model.User) { u.IsActive = false })
	require.Equal(t, wrong.body, b.token(basic(id, secret), "grant_type", "password", "username", "ru@c", "password",
		password).body)
	require.Empty(t, b.opens(r.text("access_token")), "a disabled user's token opens nothing")
	b.EditUser("ru@c", func(u *model.User) { u.IsActive, u.IsFactorEnabled = true, true })
	r = b.token(basic(id, secret), "grant_type", "password", "username", "ru@c", "password", password)
	require.Equal(t, 400, r.code)
	require.Contains(t, r.text("error_description"), "code")
	require.Equal(t, 405, b.do("GET", "/oauth2/token", nil).code)
	require.Equal(t, 404, b.do("GET", "/oauth2/else", nil).code)
	require.Equal(t, "invalid_request", b.do("POST", "/oauth2/token?grant_type=password&grant_type=cookie",
		nil).text("error"))
}

// A master's client serves the people of its sub-accounts.
func TestClientServesAccountsBelow(t *testing.T) {
	b := newFixture(t)
	id, secret := b.client("m", nil)
	r := b.token(basic(id, secret), "grant_type", "password", "username", "ru@c", "password", password)
	require.Equal(t, 200, r.code)
	require.Equal(t, "c:ru@c", b.opens(r.text("access_token")))
	require.Equal(t, 400, b.token(basic(id, secret), "grant_type", "password", "username", "ru@o", "password",
		password).code)
}

func TestRefreshRotates(t *testing.T) {
	b := newFixture(t)
	id, secret := b.client("c", map[string]any{"scopes": []string{identity.ScopeRead, identity.ScopeReport}})
	other, otherSecret := b.client("c", nil)
	first := b.token(basic(id, secret), "grant_type", "password", "username", "ru@c", "password", password, "scope",
		"vms.read vms.report")
	require.Equal(t, "vms.read vms.report", first.text("scope"))
	require.Equal(t, "invalid_scope", b.token(basic(id, secret), "grant_type", "password", "username", "ru@c",
		"password", password, "scope", "vms.all").text("error"))
	for asked, given := range map[string]string{"openid profile vms.report offline_access": "vms.report",
		"openid email": "vms.read"} {
		require.Equal(t, given, b.token(basic(id, secret), "grant_type", "password", "username", "ru@c", "password",
			password, "scope", asked).text("scope"), "the names of OpenID Connect are passed over, not refused")
	}

	refresh := func(token string, more ...string) reply {
		return b.token(basic(id, secret), append([]string{"grant_type", "refresh_token", "refresh_token", token},
			more...)...)
	}
	require.Equal(t, "invalid_grant", b.token(basic(other, otherSecret), "grant_type", "refresh_token",
		"refresh_token", first.text("refresh_token")).text("error"), "another client's")
	require.Equal(t, "invalid_grant", refresh(first.text("access_token")).text("error"))
	require.Equal(t, "invalid_grant", refresh("nonsense").text("error"))
	require.Equal(t, "invalid_request", refresh("").text("error"))
	require.Equal(t, "invalid_scope", refresh(first.text("refresh_token"), "scope", "vms.all").text("error"),
		"never more than was granted")
	second := refresh(first.text("refresh_token"), "scope", "vms.read")
	require.Equal(t, 200, second.code, "%v", second.body)
	require.Equal(t, "vms.read", second.text("scope"))
	require.NotEqual(t, first.text("refresh_token"), second.text("refresh_token"))
	third := refresh(second.text("refresh_token"))
	require.Equal(t, "vms.read vms.report", third.text("scope"), "fewer scopes last for one access token")
	for _, r := range []reply{first, second, third} {
		require.Equal(t, "c:ru@c", b.opens(r.text("access_token")))
	}

	// The first one comes again: the whole family ends, that of the other sign-in does not.
	beside := b.token(basic(id, secret), "grant_type", "password", "username", "ru@c", "password", password)
	require.Equal(t, "invalid_grant", refresh(first.text("refresh_token")).text("error"))
	for _, r := range []reply{first, second, third} {
		require.Empty(t, b.opens(r.text("access_token")))
		require.Equal(t, "invalid_grant", refresh(r.text("refresh_token")).text("error"))
	}
	require.Equal(t, "c:ru@c", b.opens(beside.text("access_token")))

	// It is good for 14 days when it rests and for 90 in all.
	b.Advance(12*time.Hour + time.Second)
	require.Empty(t, b.opens(beside.text("access_token")))
	at, days := beside.text("refresh_token"), 0
	for ; days < 200; days += 10 {
		r := refresh(at)
		if r.code != 200 {
			require.Equal(t, "invalid_grant", r.text("error"))
			break
		}
		at = r.text("refresh_token")
		b.Advance(10 * 24 * time.Hour)
	}
	require.Equal(t, 90, days)
	rested := b.token(basic(id, secret), "grant_type", "password", "username", "ru@c", "password", password)
	b.Advance(14*24*time.Hour + time.Second)
	require.Equal(t, "invalid_grant", refresh(rested.text("refresh_token")).text("error"))
}

// What cannot be exchanged at the moment is not used up by the attempt.
func TestRefreshOutlivesASuspension(t *testing.T) {
	b := newFixture(t)
	id, secret := b.client("m", nil)
	r := b.token(basic(id, secret), "grant_type", "password", "username", "ru@c", "password", password)
	b.SetStatus("c", model.StatusSuspended)
	require.Empty(t, b.opens(r.text("access_token")))
	again := func() reply {
		return b.token(basic(id, secret), "grant_type", "refresh_token", "refresh_token", r.text("refresh_token"))
	}
	require.Equal(t, "invalid_grant", again().text("error"))
	b.SetStatus("c", model.StatusActive)
	require.Equal(t, 200, again().code)
	b.SetStatus("m", model.StatusSuspended)
	require.Equal(t, "invalid_client", again().text("error"), "the client's account")
}

// held is a token of each kind that ru@c can have, and whether it opens anything or can be
// exchanged.
func (b *fixture) held(id, secret string) (open func() map[string]bool) {
	b.t.Helper()
	grant := b.token(basic(id, secret), "grant_type", "password", "username", "ru@c", "password", password)
	require.Equal(b.t, 200, grant.code, "%v", grant.body)
	key := b.signIn("ru@c")
	ofSession := b.token(cookie(key), "grant_type", "cookie")
	require.Equal(b.t, 200, ofSession.code)
	_, q := b.code(key, "client_id", id, "redirect_uri", back)
	refresh, asked := grant.text("refresh_token"), false
	return func() map[string]bool {
		b.t.Helper()
		out := map[string]bool{"access": b.opens(grant.text("access_token")) != "",
			"session":   b.do("GET", "/g/aaa/isauth", nil, cookie(key)).code == 200,
			"session's": b.opens(ofSession.text("access_token")) != ""}
		if r := b.token(basic(id, secret), "grant_type", "refresh_token", "refresh_token", refresh); r.code == 200 {
			refresh, out["refresh"] = r.text("refresh_token"), true
		} else {
			require.Equal(b.t, "invalid_grant", r.text("error"))
			out["refresh"] = false
		}
		if !asked { // a code is good once: it is kept for after the end
			asked, out["code"] = true, true
			return out
		}
		out["code"] = b.token(basic(id, secret), "grant_type", "authorization_code", "code", q.Get("code"),
			"redirect_uri", back).code == 200
		return out
	}
}

func all(v bool) map[string]bool {
	return map[string]bool{"access": v, "session": v, "session's": v, "code": v, "refresh": v}
}

// Whatever takes a user's right to act ends at once all that the user has: tokens, sessions, codes,
// what can be exchanged. What lasts is gone for good, what may be lifted lets them go on.
func TestWhatEndsTokensAtOnce(t *testing.T) {
	user := func(f func(*model.User)) func(*fixture) { return func(b *fixture) { b.EditUser("ru@c", f) } }
	status := func(account, v string) func(*fixture) { return func(b *fixture) { b.SetStatus(account, v) } }
	ranges := func(list ...string) func(*fixture) {
		return func(b *fixture) {
			b.EditAccount("c", func(a *model.Account) {
				a.AccessRestriction, a.AllowableRange = model.Texts{"enable_ip_restrictions"}, list
			})
		}
	}
	within := ranges("203.0.113.0/24", "127.0.0.0/8", "::1/128")
	change := func(who, path string, body map[string]string) func(*fixture) {
		return func(b *fixture) {
			key := b.signIn(who)
			b.Advance(time.Second)
			require.Contains(b.t, []int{200, 202}, b.do("POST", path, body, cookie(key)).code)
		}
	}
	for name, c := range map[string]struct{ end, lift func(*fixture) }{
		"account suspended":          {status("c", model.StatusSuspended), status("c", model.StatusActive)},
		"account inactive":           {status("c", model.StatusInactive), status("c", model.StatusActive)},
		"outside the address ranges": {ranges("203.0.113.0/24"), within},
		"outside the hours": {user(func(u *model.User) { u.AccessPeriod = model.Texts{"6-0000-0001"} }),
			user(func(u *model.User) { u.AccessPeriod = nil })},
		"disabled": {user(func(u *model.User) { u.IsActive = false }),
			user(func(u *model.User) { u.IsActive = true })},
		"user deleted":    {func(b *fixture) { b.deleteUser("ru@c") }, nil},
		"account deleted": {func(b *fixture) { b.deleteAccount("c") }, nil},
		"password changed by the user": {change("ru@c", "/g/aaa/change_password",
			map[string]string{"password": "another horse 2", "current_password": password}), nil},
		"password changed by the admin": {func(b *fixture) {
			change("asu@c", "/g/aaa/change_password",
				map[string]string{"password": "another horse 2", "id": b.User("ru@c").ID})(b)
		}, nil},
		"locked by wrong passwords": {func(b *fixture) {
			b.EditAccount("c", func(a *model.Account) { a.LoginAttemptLimit = 1 })
			b.Advance(time.Second)
			require.Equal(b.t, 401, b.do("POST", "/g/aaa/authenticate",
				map[string]string{"username": "ru@c", "password": "wrong wrong 1"}).code)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newFixture(t)
			within(b)
			id, secret := b.client("m", nil)
			open := b.held(id, secret)
			require.Equal(t, all(true), open())
			b.Advance(time.Second)
			c.end(b)
			require.Equal(t, all(false), open())
			if c.lift != nil {
				c.lift(b)
				require.Equal(t, all(true), open())
			} else if b.User("ru@c").ID != "" {
				// Not even support brings back what a lock or a new password ended.
				b.EditUser("ru@c", func(u *model.User) { u.Inner.Locked, u.IsActive = time.Time{}, true })
				require.Equal(t, all(false), open())
			}
		})
	}
}

// A new password leaves the session in which it was set, and what that session's client has by it.
func TestNewPasswordLeavesTheCurrentSession(t *testing.T) {
	b := newFixture(t)
	key, other := b.signIn("ru@c"), b.signIn("ru@c")
	mine, others := b.token(cookie(key), "grant_type", "cookie"), b.token(cookie(other), "grant_type", "cookie")
	b.Advance(time.Second)
	require.Equal(t, 200, b.do("POST", "/g/aaa/change_password",
		map[string]string{"password": "another horse 2", "current_password": password}, cookie(key)).code)
	require.NotEmpty(t, b.opens(mine.text("access_token")))
	require.Equal(t, 200, b.do("GET", "/g/aaa/isauth", nil, cookie(key)).code)
	require.Empty(t, b.opens(others.text("access_token")))
	require.Equal(t, 401, b.do("GET", "/g/aaa/isauth", nil, cookie(other)).code)
}

func TestClientCredentials(t *testing.T) {
	b := newFixture(t)
	id, secret := b.client("c", map[string]any{"scopes": []string{identity.ScopeRead}})
	r := b.token(basic(id, secret), "grant_type", "client_credentials")
	require.Equal(t, 200, r.code)
	require.Equal(t, "vms.read", r.text("scope"))
	require.Empty(t, r.text("refresh_token"))
	require.Equal(t, "c:", b.opens(r.text("access_token")))
	public, none := b.client("c", map[string]any{"is_public": true})
	require.Empty(t, none)
	require.Equal(t, "unauthorized_client", b.token(nil, "client_id", public, "grant_type",
		"client_credentials").text("error"))
	// Without its client a token is worth nothing.
	require.Equal(t, 204, b.do("DELETE", "/oauth2/clients?id="+id, nil, cookie(b.signIn("asu@c"))).code)
	require.Empty(t, b.opens(r.text("access_token")))
	require.Equal(t, "invalid_client", b.token(basic(id, secret), "grant_type", "client_credentials").text("error"))
}

// A session's token is for the account that the session is in, and ends with the session.
func TestCookieGrant(t *testing.T) {
	b := newFixture(t)
	key := b.signIn("asu@m")
	r := b.token(cookie(key), "grant_type", "cookie", "scope", "vms.read")
	require.Equal(t, 200, r.code, "%v", r.body)
	require.Equal(t, "vms.read", r.text("scope"))
	require.Empty(t, r.text("refresh_token"))
	require.Equal(t, "m:asu@m", b.opens(r.text("access_token")))
	require.Equal(t, 200, b.do("POST", "/g/aaa/switch_account", map[string]string{"account_id": "c"}, cookie(key)).code)
	below := b.token(cookie(key), "grant_type", "cookie")
	require.Equal(t, "c:asu@m", b.opens(below.text("access_token")))
	elsewhere := func(r *http.Request) { cookie(key)(r); r.Header.Set("Sec-Fetch-Site", "cross-site") }
	require.Equal(t, 403, b.token(elsewhere, "grant_type", "cookie").code, "another site's page")
	require.Equal(t, 200, b.token(nil, "grant_type", "cookie", "A", key).code)
	require.Equal(t, 401, b.token(nil, "grant_type", "cookie").code)
	require.Equal(t, "login_required", b.token(cookie("c000~x"), "grant_type", "cookie").text("error"))
	require.Equal(t, 204, b.do("POST", "/g/aaa/logout", nil, cookie(key)).code)
	require.Empty(t, b.opens(r.text("access_token")))
	require.Empty(t, b.opens(below.text("access_token")))
}

func TestRevoke(t *testing.T) {
	b := newFixture(t)
	id, secret := b.client("c", nil)
	other, otherSecret := b.client("o", nil)
	r := b.token(basic(id, secret), "grant_type", "password", "username", "ru@c", "password", password)
	next := b.token(basic(id, secret), "grant_type", "refresh_token", "refresh_token", r.text("refresh_token"))
	revoke := func(auth func(*http.Request), token string) reply {
		form := url.Values{"token": {token}, "token_type_hint": {"whatever"}}
		if auth == nil {
			return b.do("POST", "/oauth2/revoke", form)
		}
		return b.do("POST", "/oauth2/revoke", form, auth)
	}
	// Of another account's client, of nobody, of one with a wrong secret: nothing happens.
	require.Equal(t, 200, revoke(basic(other, otherSecret), r.text("access_token")).code)
	require.Equal(t, 200, revoke(nil, next.text("refresh_token")).code)
	require.Equal(t, 401, revoke(basic(id, otherSecret), next.text("refresh_token")).code)
	require.Equal(t, 200, revoke(basic(id, secret), "nonsense").code)
	require.Equal(t, 200, revoke(basic(id, secret), secret).code, "a client does not revoke itself")
	require.Equal(t, 400, revoke(basic(id, secret), "").code)
	require.Equal(t, "c:ru@c", b.opens(r.text("access_token")))

	require.Equal(t, 200, revoke(basic(id, secret), r.text("access_token")).code)
	require.Empty(t, b.opens(r.text("access_token")))
	require.Equal(t, "c:ru@c", b.opens(next.text("access_token")), "one access token")
	require.Equal(t, 200, revoke(basic(id, secret), next.text("refresh_token")).code)
	require.Empty(t, b.opens(next.text("access_token")), "a refresh token takes its family along")
	require.Equal(t, "invalid_grant", b.token(basic(id, secret), "grant_type", "refresh_token", "refresh_token",
		next.text("refresh_token")).text("error"))

	mine := b.token(cookie(b.signIn("ru@c")), "grant_type", "cookie")
	require.Equal(t, 200, revoke(nil, mine.text("access_token")).code)
	require.Empty(t, b.opens(mine.text("access_token")))
}

func TestLimits(t *testing.T) {
	b := newFixture(t, func(wo *web.Options, _ *oauth.Options) {
		wo.Limits.PerUser = web.Limit{Burst: 3, Every: time.Minute}
	})
	id, secret := b.client("c", nil)
	codes := []int{}
	for range 5 {
		codes = append(codes, b.token(basic(id, secret), "grant_type", "password", "username", "RU@c", "password",
			"wrong horse 12").code)
	}
	require.Equal(t, []int{400, 400, 400, 429, 429}, codes)
	r := b.token(basic(id, secret), "grant_type", "password", "username", "ru@c", "password", password)
	require.Equal(t, 429, r.code)
	require.NotEmpty(t, r.header.Get("Retry-After"))
	require.Equal(t, 429, b.do("POST", "/g/aaa/authenticate",
		map[string]string{"username": "ru@c", "password": password}).code, "the handlers count together")
	require.Equal(t, 200, b.token(basic(id, secret), "grant_type", "client_credentials").code)
}

// Nothing that opens anything is in the file, and the trail tells of tokens and clients without
// their secrets.
func TestStoredHashed(t *testing.T) {
	b := newFixture(t)
	id, secret := b.client("c", nil)
	r := b.token(basic(id, secret), "grant_type", "password", "username", "ru@c", "password", password)
	list, err := b.Store.Tokens()
	require.NoError(t, err)
	require.Len(t, list, 3)
	require.NoError(t, b.Store.View(func(tx *store.Tx) error {
		tokens, err := tx.Tokens()
		require.NoError(t, err)
		for _, x := range tokens {
			for _, text := range []string{secret, r.text("access_token"), r.text("refresh_token")} {
				require.NotContains(t, string(x.Hash), text)
				require.Len(t, x.Hash, 32)
			}
		}
		trail, err := tx.AuditTrail("c", 0, 100)
		require.NoError(t, err)
		made := 0
		for _, e := range trail {
			if e.Action == model.AuditCreate && e.Kind == model.KindToken {
				made++
			}
			require.False(t, strings.HasPrefix(e.Name, "vms1_"))
		}
		require.Equal(t, 2, made)
		return nil
	}))
	// What is long over goes, and the index with it.
	b.Advance(200 * 24 * time.Hour)
	require.NoError(t, b.Store.Prune())
	require.NoError(t, oauth.Prune(b.Store))
	list, err = b.Store.Tokens()
	require.NoError(t, err)
	require.Len(t, list, 1, "the client")
	require.NoError(t, b.Store.View(func(tx *store.Tx) error {
		for k := range tx.Bucket("oauth").Range(nil, nil) {
			require.Fail(t, "left in the index", "%q", k)
		}
		return nil
	}))
}

// Of many who exchange one refresh token or one code at once, one gets tokens, and these end with
// the others' attempts.
func TestExchangeAtOnce(t *testing.T) {
	b := newFixture(t)
	id, secret := b.client("c", nil)
	r := b.token(basic(id, secret), "grant_type", "password", "username", "ru@c", "password", password)
	_, q := b.code(b.signIn("ru@c"), "client_id", id)
	for _, pairs := range [][]string{{"grant_type", "refresh_token", "refresh_token", r.text("refresh_token")},
		{"grant_type", "authorization_code", "code", q.Get("code")}} {
		answers := make(chan reply, 8)
		var all sync.WaitGroup
		for range cap(answers) {
			all.Go(func() { answers <- b.token(basic(id, secret), pairs...) })
		}
		all.Wait()
		close(answers)
		got := 0
		for x := range answers {
			if x.code == 200 {
				got++
				require.Empty(t, b.opens(x.text("access_token")))
			}
		}
		require.Equal(t, 1, got, pairs[1])
	}
}
