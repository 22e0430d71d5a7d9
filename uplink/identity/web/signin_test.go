package web

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/identitytest"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
)

func login(email, pw string) args { return args{"username": email, "password": pw} }

func TestSignInAndOut(t *testing.T) {
	b := newFixture(t)
	r := b.call("POST", "/g/aaa/authenticate", "", login("RU@c", password)).want(200)
	require.Len(t, r.field("token"), 344)
	require.NotContains(t, string(r.body), "two_factor")
	require.Empty(t, r.cookies, "only authorize sets cookies")
	// Clients send the whole former answer, and more.
	r = b.call("POST", "/g/aaa/authorize", "", args{"token": r.field("token"), "realm": "x", "password": "y"}).want(200)
	var u map[string]any
	r.into(&u)
	require.Equal(t, b.ids["ru@c"], u["user_id"])
	require.Equal(t, u["id"], u["user_id"])
	require.Equal(t, "c000", u["active_brand_subdomain"])
	require.Equal(t, "c", u["active_account_id"])
	require.EqualValues(t, 1, u["is_live_video"])
	require.Equal(t, "20261116170000.000", u["last_login"])
	key := r.cookie("auth_key")
	require.Regexp(t, `^c000~[0-9A-Za-z]{32}$`, key.Value)
	require.Equal(t, key.Value, r.cookie("videobank_sessionid").Value)
	for _, c := range r.cookies {
		age := 4 * 3600
		if c.Name == api.CookieMark {
			age = 400 * 24 * 3600 // it opens nothing
		}
		require.True(t, c.HttpOnly && c.Path == "/" && c.Domain == "" && c.MaxAge == age &&
			c.SameSite == http.SameSiteLaxMode && !c.Secure, "%+v", c)
	}
	require.Equal(t, "true", string(b.call("GET", "/g/aaa/isauth", key.Value, nil).want(200).body))
	out := b.call("POST", "/g/aaa/logout", key.Value, nil).want(204)
	require.Negative(t, out.cookie("auth_key").MaxAge)
	require.Empty(t, out.body)
	b.call("GET", "/g/aaa/isauth", key.Value, nil).want(401)
	b.call("POST", "/g/aaa/logout", key.Value, nil).want(401)
	b.call("GET", "/g/aaa/logout", b.signIn("ru@c"), nil).want(204)
	b.call("GET", "/g/aaa/logout", "", nil).want(401)
	for _, method := range []string{"GET", "POST"} {
		b.call(method, "/g/aaa/logout", b.signIn("ru@c"), args{"what": "now"}).want(400)
	}
}

// The file holds no key, token or password in a form that could be used.
func TestNothingSecretIsStored(t *testing.T) {
	b := newFixture(t)
	token := b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password)).want(200).field("token")
	key := b.signIn("asu@c")
	require.NoError(t, b.Store.View(func(tx *store.Tx) error {
		for _, secretText := range []string{token, key} {
			_, err1 := tx.Ticket([]byte(secretText))
			_, err2 := tx.Session([]byte(secretText))
			require.Error(t, err1)
			require.Error(t, err2)
		}
		return nil
	}))
	require.NotContains(t, b.User("ru@c").Inner.PasswordHash, password)
}

func TestSecureCookiesAndTheirDomain(t *testing.T) {
	b := newFixture(t, func(o *Options, _ *session.Options) { o.Secure, o.CookieDomain = true, "vms.example" })
	token := b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password)).want(200).field("token")
	r := b.call("POST", "/g/aaa/authorize", "", args{"token": token}).want(200)
	require.True(t, r.cookie("auth_key").Secure)
	require.Equal(t, "vms.example", r.cookie("auth_key").Domain)
}

// Of the codes whose condition holds, the last of the endpoint's list is given.
func TestAuthenticateCodes(t *testing.T) {
	for name, c := range map[string]struct {
		set      func(b *fixture)
		password string
		want     int
	}{
		"right":          {nil, password, 200},
		"wrong password": {nil, "something else", 401},
		"suspended":      {func(b *fixture) { b.SetStatus("c", model.StatusSuspended) }, password, 402},
		"suspended, wrong password": {func(b *fixture) { b.SetStatus("c", model.StatusSuspended) }, "something else",
			402},
		"inactive, wrong password": {func(b *fixture) { b.SetStatus("c", model.StatusInactive) }, "something else",
			460},
		"pending, wrong password": {func(b *fixture) { b.SetStatus("c", model.StatusPending) }, "something else",
			461},
		"disabled, wrong password": {func(b *fixture) {
			b.EditUser("ru@c",
				func(u *model.User) { u.IsActive = false })
		}, "something else", 412},
		"locked, wrong password": {func(b *fixture) {
			b.EditUser("ru@c",
				func(u *model.User) { u.Lock(monday, "") })
		}, "something else", 412},
		"inactive": {func(b *fixture) { b.SetStatus("c", model.StatusInactive) }, password, 460},
		"pending":  {func(b *fixture) { b.SetStatus("c", model.StatusPending) }, password, 461},
		"disabled": {func(b *fixture) {
			b.EditUser("ru@c",
				func(u *model.User) { u.IsActive = false })
		}, password, 412},
		"locked": {func(b *fixture) {
			b.EditUser("ru@c",
				func(u *model.User) { u.Inner.Locked = monday })
		}, password, 412},
		"disabled in a pending account": {func(b *fixture) {
			b.SetStatus("c", model.StatusPending)
			b.EditUser("ru@c", func(u *model.User) { u.IsActive = false })
		}, password, 412},
		"user pending": {func(b *fixture) {
			b.EditUser("ru@c",
				func(u *model.User) { u.IsActive, u.IsPending = false, true })
		}, password, 462},
		"user pending, wrong password": {func(b *fixture) {
			b.EditUser("ru@c",
				func(u *model.User) { u.IsActive, u.IsPending = false, true })
		}, "something else", 462},
		"user pending in a pending account": {func(b *fixture) {
			b.SetStatus("c", model.StatusPending)
			b.EditUser("ru@c", func(u *model.User) { u.IsActive, u.IsPending = false, true })
		}, password, 461},
		"outside the hours": {func(b *fixture) {
			b.EditUser("ru@c", func(u *model.User) { u.AccessPeriod = model.Texts{"0-1000-1100"} })
		}, password, 412},
		"outside the hours, wrong password": {func(b *fixture) {
			b.EditUser("ru@c", func(u *model.User) { u.AccessPeriod = model.Texts{"0-1000-1100"} })
		}, "something else", 401},
		"within the hours": {func(b *fixture) {
			b.EditUser("ru@c", func(u *model.User) { u.AccessPeriod = model.Texts{"0-0800-1100"} })
		}, password, 200},
		"outside the addresses": {func(b *fixture) {
			b.EditAccount("c", func(a *model.Account) {
				a.AccessRestriction, a.AllowableRange = model.Texts{"enable_ip_restrictions"},
					model.Texts{"203.0.113.0/24"}
			})
		}, password, 401},
		"within the addresses": {func(b *fixture) {
			b.EditAccount("c", func(a *model.Account) {
				a.AccessRestriction, a.AllowableRange = model.Texts{"enable_ip_restrictions"},
					model.Texts{"203.0.113.0/24", "127.0.0.0/8", "::1/128"}
			})
		}, password, 200},
		"addresses without the restriction": {func(b *fixture) {
			b.EditAccount("c", func(a *model.Account) { a.AllowableRange = model.Texts{"203.0.113.0/24"} })
		}, password, 200},
		"restriction without addresses": {func(b *fixture) {
			b.EditAccount("c", func(a *model.Account) { a.AccessRestriction = model.Texts{"enable_ip_restrictions"} })
		}, password, 200},
	} {
		t.Run(name, func(t *testing.T) {
			b := newFixture(t)
			if c.set != nil {
				c.set(b)
			}
			b.call("POST", "/g/aaa/authenticate", "", login("ru@c", c.password)).want(c.want)
		})
	}
	b := newFixture(t)
	b.call("POST", "/g/aaa/authenticate", "", args{"username": "ru@c"}).want(400)
	b.call("POST", "/g/aaa/authenticate", "", args{"password": password}).want(400)
	b.call("POST", "/g/aaa/authenticate", "", args{"username": []string{"a"}, "password": "x"}).want(400)
	b.call("POST", "/g/aaa/authenticate", "", login("nobody@c", password)).want(401)
}

// An address that nobody has gets the very answer, and as much work, as one that someone has.
func TestUnknownAndKnownAddressesLookAlike(t *testing.T) {
	b := newFixture(t)
	known := b.call("POST", "/g/aaa/authenticate", "", login("ru@c", "wrong wrong 1")).want(401)
	unknown := b.call("POST", "/g/aaa/authenticate", "", login("nobody@c", "wrong wrong 1")).want(401)
	require.Equal(t, string(known.body), string(unknown.body))
	require.NoError(t, b.Store.View(func(tx *store.Tx) error {
		for _, email := range []string{"ru@c", "nobody@c"} {
			a, err := tx.Attempts(email)
			require.NoError(t, err)
			require.Equal(t, 1, a.Count, "both are written down")
		}
		return nil
	}))
	a, z := b.call("POST", "/g/aaa/forgot_password", "", args{"email": "ru@c"}).want(202),
		b.call("POST", "/g/aaa/forgot_password", "", args{"email": "nobody@c"}).want(202)
	require.Equal(t, a.body, z.body)
	require.Zero(t, b.messagesTo("nobody@c"))
	require.Equal(t, 1, b.messagesTo("ru@c"))
}

// The work of an answer, counted in evaluations of argon2, does not tell whether an address is
// known, nor in which state its user or account is. That the hash for nobody costs what another
// does is tested with the hasher.
func TestTheWorkTellsNothing(t *testing.T) {
	b := newFixture(t, withFactor(nil))
	b.user("new@c", func(u *model.User) { u.IsActive, u.IsPending, u.Inner.PasswordHash = false, true, "" })
	b.user("off@c", func(u *model.User) { u.IsActive = false })
	b.user("code@c", func(u *model.User) { u.IsFactorEnabled = true })
	b.SetStatus("s", model.StatusSuspended)
	work := func(path string, a args) int64 {
		before := identitytest.Hasher.Runs()
		b.call("POST", path, "", a)
		return identitytest.Hasher.Runs() - before
	}
	for _, email := range []string{"ru@c", "new@c", "off@c", "code@c", "ru@s", "nobody@c", "no address"} {
		require.EqualValues(t, 1, work("/g/aaa/authenticate", login(email, password)), email)
		require.EqualValues(t, 1, work("/g/aaa/authenticate", login(email, "wrong wrong 1")), email)
		for _, path := range []string{"forgot_password", "resend_registration_email",
			"resend_user_verification_email"} {
			require.Zero(t, work("/g/aaa/"+path, args{"email": email}), "%s %s", path, email)
		}
	}
	for _, email := range []string{"ru@c", "free@n.org"} {
		require.EqualValues(t, 1, work("/g/aaa/create_account", args{"email": email, "password": fresh}), email)
	}
	key := b.session("ru@c")
	for _, pw := range []string{password, "wrong wrong 1"} {
		require.EqualValues(t, 1, work("/g/aaa/two_factor_authenticate/update?A="+key,
			args{typeOfCode: "email", "password": pw, "update_json": map[string]any{"sms_phone": ""}}))
	}
}

func TestAuthorizeCodes(t *testing.T) {
	b := newFixture(t)
	fresh := func() string {
		return b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password)).want(200).field("token")
	}
	b.call("POST", "/g/aaa/authorize", "", nil).want(400)
	b.call("POST", "/g/aaa/authorize", "", args{"token": "nonsense"}).want(401)
	token := fresh()
	b.call("POST", "/g/aaa/authorize", "", args{"token": token}).want(200)
	b.call("POST", "/g/aaa/authorize", "", args{"token": token}).want(401, "good once")
	for token = fresh(); !strings.Contains(token, "+"); {
		token = fresh()
	}
	b.callIn(inFormBare, "POST", "/g/aaa/authorize", "", nil, func(r *http.Request) {
		body := "token=" + token // as curl -d sends it
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}).want(200)
	// At two devices at once: each goes on with its own. Only so many can be begun.
	tokens := []string{fresh(), fresh()}
	for _, token := range tokens {
		b.call("POST", "/g/aaa/authorize", "", args{"token": token}).want(200)
	}
	token = fresh()
	b.Advance(time.Second)
	newer := fresh()
	for range 19 {
		fresh()
	}
	b.call("POST", "/g/aaa/authorize", "", args{"token": token}).want(401, "twenty were begun since")
	b.call("POST", "/g/aaa/authorize", "", args{"token": newer}).want(200)
	token = fresh()
	b.Advance(29 * time.Second)
	b.call("POST", "/g/aaa/authorize", "", args{"token": token}).want(200)
	token = fresh()
	b.Advance(30 * time.Second)
	b.call("POST", "/g/aaa/authorize", "", args{"token": token}).want(401, "good for 30 seconds")
	token = fresh()
	b.SetStatus("c", model.StatusSuspended)
	b.call("POST", "/g/aaa/authorize", "", args{"token": token}).want(401, "suspended in between")
	b.SetStatus("c", model.StatusActive)
	// A token of another purpose opens nothing.
	b.call("POST", "/g/aaa/forgot_password", "", args{"email": "ru@c"}).want(202)
	b.call("POST", "/g/aaa/authorize", "", args{"token": b.message("ru@c").Token}).want(401)
	token = fresh()
	b.call("POST", "/g/aaa/check_pw_reset_token", "", args{"token": token}).want(406)
}

// One token makes one session, however many ask at once.
func TestATokenIsGoodOnceUnderContention(t *testing.T) {
	b := newFixture(t)
	token := b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password)).want(200).field("token")
	var wg sync.WaitGroup
	var mu sync.Mutex
	codes := map[int]int{}
	for range 8 {
		wg.Go(func() {
			_, err := b.sessions.Authorize(t.Context(), session.Claim{Token: token})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				codes[200]++
			} else {
				codes[401]++
			}
		})
	}
	wg.Wait()
	require.Equal(t, map[int]int{200: 1, 401: 7}, codes)
}

func TestSessionSources(t *testing.T) {
	b := newFixture(t)
	good, other := b.signIn("ru@c"), b.signIn("asu@o")
	who := func(path string, a args, encoding, cookie string) string {
		r := b.callIn(encoding, "POST", path, cookie, a)
		if r.code == 401 {
			return "nobody"
		}
		require.NotEqual(t, 500, r.code)
		return r.field("active_account_id")
	}
	const path = "/g/aaa/switch_account"
	for _, encoding := range bodyEncodings {
		require.Equal(t, "c", who(path, args{"A": good}, encoding, other),
			"A in the body stands before the cookie: %s", encoding)
		require.Equal(t, "o", who(path+"?A="+other, args{"A": good}, encoding, good),
			"A in the query stands before all")
		require.Equal(t, "o", who(path, nil, encoding, other))
		require.Equal(t, "nobody", who(path, args{"A": "wrong"}, encoding, other),
			"the first that is there counts, also if it is wrong")
		require.Equal(t, "nobody", who(path, nil, encoding, ""))
	}
	b.call("GET", "/g/aaa/isauth?A="+good, "", nil).want(200)
	b.call("GET", "/g/aaa/isauth", "", nil, func(r *http.Request) {
		r.Header.Set("Cookie", "videobank_sessionid="+
			good)
	}).want(200)
	b.call("GET", "/g/aaa/isauth", "", nil).want(401)
}

// What cannot be read does not stand above a missing session, and does not matter where the
// interface lists no 400.
func TestUnreadableRequests(t *testing.T) {
	b := newFixture(t)
	key := b.signIn("asu@c")
	for _, e := range Endpoints {
		r := b.call(e.Method, e.Path+"?%zz", "", nil)
		want := 400
		if e.session {
			want = 401
		}
		require.Equal(t, want, r.code, "%s", e)
		if e.session && !strings.HasSuffix(e.Path, "logout") {
			want = 400
			if !slices.Contains(e.Codes, 400) {
				want = 200
			}
			require.Equal(t, want, b.call(e.Method, e.Path+"?%zz", key, nil).code, "%s", e)
		}
	}
	b.callIn(inJSON, "GET", "/g/user", key, args{"id": b.ids["ru@c"]}).want(200)
	require.Equal(t, b.ids["asu@c"], b.callIn(inJSON, "GET", "/g/user", key, args{"id": b.ids["ru@c"]}).field("id"),
		"GET takes its parameters from the query")
}

func TestSessionsEnd(t *testing.T) {
	b := newFixture(t)
	is := func(key string, want int) {
		t.Helper()
		b.call("GET", "/g/aaa/isauth", key, nil).want(want)
	}
	key := b.signIn("ru@c")
	b.Advance(4*time.Hour - time.Second)
	is(key, 200)
	b.Advance(time.Second)
	is(key, 401)

	b.EditAccount("c", func(a *model.Account) { a.SessionDuration, a.InactiveSessionTimeout = 0, 600 })
	key = b.signIn("ru@c")
	for range 20 {
		b.Advance(9 * time.Minute)
		is(key, 200)
	}
	b.Advance(10 * time.Minute)
	is(key, 401)

	// To the second, though not every request is written down; a restart costs what was not.
	key = b.signIn("ru@c")
	for range 5 {
		b.Advance(time.Minute)
		is(key, 200)
		b.Advance(10*time.Minute - time.Second)
		is(key, 200)
	}
	b.Advance(9 * time.Minute)
	require.NoError(t, b.Store.Prune())
	is(key, 200)
	b.Advance(10 * time.Minute)
	require.NoError(t, b.Store.Prune())
	is(key, 401)

	b.EditAccount("c", func(a *model.Account) { a.InactiveSessionTimeout = 0 })
	key = b.signIn("ru@c")
	b.Advance(100 * 24 * time.Hour)
	is(key, 200)

	b.SetStatus("c", model.StatusSuspended)
	is(key, 401)
	b.SetStatus("c", model.StatusInactive)
	is(key, 401)
	b.SetStatus("c", model.StatusActive)
	is(key, 200)
	b.EditUser("ru@c", func(u *model.User) { u.Inner.Locked = monday })
	is(key, 401)
	b.EditUser("ru@c", func(u *model.User) {
		u.Inner.Locked, u.AccessPeriod = time.Time{}, model.Texts{"6-0000-0001"}
	})
	is(key, 401)
	b.EditUser("ru@c", func(u *model.User) { u.AccessPeriod = nil })
	b.EditAccount("c", func(a *model.Account) {
		a.AccessRestriction, a.AllowableRange = model.Texts{"enable_ip_restrictions"}, model.Texts{"203.0.113.0/24"}
	})
	is(key, 401)
	b.EditAccount("c", func(a *model.Account) { a.AllowableRange = nil })
	is(key, 200)
	require.NoError(t, b.Store.Update(func(tx *store.Tx) error { return tx.DeleteUser(b.ids["ru@c"]) }))
	is(key, 401)
}

// login_attempt_limit: that many wrong passwords lock the user, who is told by mail; a right one
// before clears the count.
func TestLoginAttemptLimit(t *testing.T) {
	b := newFixture(t)
	b.EditAccount("c", func(a *model.Account) { a.LoginAttemptLimit = 3 })
	try := func(pw string, want int) {
		t.Helper()
		b.call("POST", "/g/aaa/authenticate", "", login("ru@c", pw)).want(want)
	}
	try("wrong wrong 1", 401)
	try("wrong wrong 1", 401)
	try(password, 200)
	try("wrong wrong 1", 401)
	try("wrong wrong 1", 401)
	key := b.signIn("asu@c")
	require.Zero(t, b.messagesTo("ru@c"))
	hers := b.session("ru@c")
	b.call("GET", "/g/aaa/isauth", hers, nil).want(200)
	try("wrong wrong 1", 401)
	try(password, 412)
	b.call("GET", "/g/aaa/isauth", hers, nil).want(401)
	require.Equal(t, notify.Locked, b.message("ru@c").Kind)
	b.call("GET", "/g/aaa/isauth", key, nil).want(200, "another user goes on")
	b.Advance(1000 * time.Hour)
	try(password, 412)
}

func TestRateLimits(t *testing.T) {
	b := newFixture(t, func(o *Options, _ *session.Options) {
		o.Limits = Limits{PerAddress: Limit{20, time.Minute}, PerUser: Limit{3, time.Minute}}
	})
	for _, email := range []string{"ru@c", "nobody@c"} {
		for range 3 {
			b.call("POST", "/g/aaa/authenticate", "", login(email, "wrong wrong 1")).want(401)
		}
		r := b.call("POST", "/g/aaa/authenticate", "", login(email, password)).want(429)
		require.Equal(t, "60", r.header.Get("Retry-After"))
	}
	b.call("POST", "/g/aaa/forgot_password", "", args{"email": "RU@c"}).want(429,
		"the user is limited whatever is called")
	b.Advance(time.Minute)
	b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password)).want(200)
	for i := range 20 {
		b.call("POST", "/g/aaa/authenticate", "", login(fmt.Sprintf("n%d@c", i), "wrong wrong 1"))
	}
	b.call("POST", "/g/aaa/check_pw_reset_token", "", args{"token": "x"}).want(429, "the client's address is limited")
	b.call("GET", "/g/aaa/isauth", "", nil).want(401, "what cannot guess is not")
}

func TestLimiterForgets(t *testing.T) {
	now := monday
	l := newLimiter(Limit{1, time.Minute}, func() time.Time { return now })
	l.capacity = 200
	for i := range 3 * l.capacity {
		require.True(t, l.allow(fmt.Sprint(i)))
	}
	require.LessOrEqual(t, len(l.buckets), l.capacity)
	require.True(t, l.allow("x"))
	require.False(t, l.allow("x"))
	now = now.Add(time.Minute)
	require.True(t, l.allow("x"))
}

// What another site's page makes a browser send is refused, also when it would sign the browser in.
func TestCrossSiteRequests(t *testing.T) {
	b := newFixture(t, func(o *Options, _ *session.Options) { o.Origins = []string{"https://app.example"} })
	key := b.signIn("asu@c")
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	evil := []func(*http.Request){header("Sec-Fetch-Site", "cross-site"), header("Origin", "https://evil.example"),
		header("Sec-Fetch-Site", "same-site")}
	for _, h := range evil {
		for _, e := range Endpoints {
			if e.Path == "/g/sso" {
				require.NotEqual(t, 403, b.call(e.Method, e.Path, key, nil, h).code,
					"an identity provider is another site")
				continue
			}
			if e.Method == "GET" && !strings.HasSuffix(e.Path, "logout") {
				continue
			}
			b.call(e.Method, e.Path, key, nil, h).want(403)
			if e.Method == "GET" {
				require.Equal(t, 403, b.call("HEAD", e.Path, key, nil, h).code)
			}
		}
	}
	b.call("GET", "/g/aaa/isauth", key, nil).want(200)
	b.call("POST", "/g/aaa/switch_account", key, nil, header("Sec-Fetch-Site", "same-origin")).want(200)
	b.call("POST", "/g/aaa/switch_account", key, nil, header("Sec-Fetch-Site", "cross-site"),
		header("Origin", "https://app.example")).want(200)
	b.call("POST", "/g/aaa/switch_account?A="+key, "", nil, evil[0]).want(200, "who has the key needs no cookie")
	require.NotEmpty(t, b.Account("c").ID)
}

// A session parameter of any value, wherever it stands, lets no other site set a browser's cookies
// or take them back.
func TestOriginIsCheckedWhereverTheSessionStands(t *testing.T) {
	b := newFixture(t)
	victim, own := b.session("asu@c"), b.session("ru@o")
	from := func(r *http.Request) {
		r.Header.Set("Origin", "https://evil.example")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	for _, e := range Endpoints {
		if e.session && e.Path != "/g/aaa/logout" || e.crossSite {
			continue
		}
		for _, a := range []string{"x", own} {
			for _, encoding := range append([]string{inQuery}, bodyEncodings...) {
				for _, key := range []string{"", victim} {
					r := b.callIn(encoding, e.Method, e.Path, key, args{"A": a}, from).want(403, encoding, a)
					require.Empty(t, r.cookies, "%s", e)
				}
			}
		}
	}
	token := b.call("POST", "/g/aaa/authenticate", "", login("ru@o", password)).want(200).field("token")
	r := b.callIn(inForm, "POST", "/g/aaa/authorize", "", args{"token": token, "A": "x"}, from).want(403)
	require.Empty(t, r.cookies)
	b.callIn(inForm, "POST", "/g/aaa/authorize", "", args{"token": token, "A": "x"}).want(200, "a program's is taken")
	b.call("GET", "/g/aaa/isauth", own, nil).want(200, "nobody was signed out")
}

func TestAPIKeyWhereOneIsNeeded(t *testing.T) {
	b := newFixture(t, func(o *Options, _ *session.Options) {
		o.CheckKey = func(key string) (bool, error) { return key == "KEY", nil }
	})
	b.signIn("ru@c")
	b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password),
		func(r *http.Request) { r.Header.Set("Authentication", "other") }).want(401)
}

func TestProxies(t *testing.T) {
	b := newFixture(t)
	at := func(remote string, forwarded ...string) string {
		r := &http.Request{RemoteAddr: remote, Header: http.Header{"X-Forwarded-For": forwarded}}
		return b.web.Client(r).String()
	}
	require.Equal(t, "198.51.100.1", at("198.51.100.1:1234", "203.0.113.9"), "nobody is believed who is not configured")
	b.web.o.Proxies = prefixes("198.51.100.0/24", "10.0.0.0/8")
	require.Equal(t, "203.0.113.9", at("198.51.100.1:1234", "1.2.3.4, 203.0.113.9"), "only what the proxy saw")
	require.Equal(t, "203.0.113.9", at("198.51.100.1:1234", "203.0.113.9, 10.1.1.1"))
	require.Equal(t, "198.51.100.1", at("198.51.100.1:1234", "garbage"))
	require.Equal(t, "198.51.100.1", at("198.51.100.1:1234"))
	require.Equal(t, "2001:db8::/64", addressKey(b.web.Client(&http.Request{RemoteAddr: "[2001:db8::1:2]:1"})))
}

func TestMethodsAndPaths(t *testing.T) {
	b := newFixture(t)
	r := b.call("DELETE", "/g/aaa/authenticate", "", nil)
	require.Equal(t, 405, r.code)
	require.Equal(t, "POST, OPTIONS", r.header.Get("Allow"))
	require.Equal(t, 204, b.call("OPTIONS", "/g/account", "", nil).code)
	require.Equal(t, 404, b.call("GET", "/g/nothing", "", nil).code)
	require.Equal(t, 200, b.call("GET", "/g/aaa/isauth/", b.signIn("ru@c"), nil).code,
		"a slash at the end does no harm")
	require.Equal(t, 200, b.call("HEAD", "/g/aaa/isauth", b.signIn("ru@c"), nil).code)
	require.Equal(t, 413, b.callIn(inForm, "POST", "/g/aaa/authenticate", "",
		login("a@b", strings.Repeat("x", 2<<20))).code)
}

// A fault of a package behind is a 500 that keeps its words to itself, and a panic does not end the
// server.
func TestFaults(t *testing.T) {
	b := newFixture(t)
	key := b.signIn("asu@c")
	b.devices.fail = true
	r := b.call("GET", "/g/device/list", key, nil).want(500)
	require.NotContains(t, string(r.body), "secret detail")
	b.web.o.Devices = nil
	b.call("GET", "/g/device/list", key, nil).want(500)
	require.NoError(t, b.Store.Close())
	b.call("GET", "/g/aaa/isauth", key, nil).want(500)
}

func TestWhatIsNotSetUp(t *testing.T) {
	b := newFixture(t, func(o *Options, _ *session.Options) { o.CreateAccounts = false })
	b.call("POST", "/g/aaa/create_account", "", args{"email": "x@y.org", "password": password}).want(503)
	_, err := New(Options{})
	require.Error(t, err)
	_, err = New(Options{Store: b.Store, Sessions: b.sessions, Devices: b.devices, Origins: []string{"not an origin"}})
	require.Error(t, err)
}
