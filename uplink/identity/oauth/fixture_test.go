package oauth_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/identitytest"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/oauth"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/web"
)

const password = identitytest.Password

type noDevices struct{}

func (noDevices) Devices(context.Context, string) ([]web.Device, error) { return nil, nil }
func (noDevices) Device(string, string) (d web.Device, ok bool)         { return d, false }

// fixture is the three handlers over one real store behind one real server: /g/, /oauth2/, and
// /api/, which says who a token is. The account m is the master of c; o has nothing to do with
// them. Each has the users asu@ and ru@.
type fixture struct {
	*identitytest.Fixture
	t      testing.TB
	server *httptest.Server
}

func newFixture(t testing.TB, set ...func(*web.Options, *oauth.Options)) *fixture {
	b := &fixture{Fixture: identitytest.New(t), t: t}
	for id, owner := range map[string]string{"m": "", "c": "m", "o": ""} {
		b.AddAccount(id, owner, func(a *model.Account) { a.IsMaster, a.SessionDuration = id == "m", 0 })
		b.AddUser("asu@"+id, func(u *model.User) { u.IsAccountSuperuser = true })
		b.AddUser("ru@"+id, nil)
	}
	sessions := session.New(session.Options{Store: b.Store, Hasher: identitytest.Hasher})
	plenty := web.Limit{Burst: 1 << 20, Every: time.Microsecond}
	wo := web.Options{Store: b.Store, Sessions: sessions, Devices: noDevices{},
		Limits: web.Limits{PerAddress: plenty, PerUser: plenty}}
	oo := oauth.Options{Store: b.Store, Sessions: sessions, BaseURL: "https://cloud.example.org:8443"}
	for _, f := range set {
		f(&wo, &oo)
	}
	handler, err := web.New(wo)
	require.NoError(t, err)
	oo.Gate = handler
	issuer, err := oauth.New(oo)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/g/", handler)
	mux.Handle("/oauth2/", issuer)
	mux.Handle(oauth.PathReseller, issuer)
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		p, err := b.Store.Authenticate(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		at, _ := netip.ParseAddrPort(r.RemoteAddr)
		if errors.Is(err, identity.ErrUnknown) || !p.From(at.Addr()) {
			w.WriteHeader(401)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"account": p.AccountID, "email": p.User.Email, "scopes": p.Scopes})
	})
	b.server = httptest.NewServer(mux)
	t.Cleanup(b.server.Close)
	return b
}

func (b *fixture) deleteUser(email string) {
	require.Equal(b.t, 200, b.do("DELETE", "/g/user?id="+b.User(email).ID, nil, cookie(b.signIn("asu@c"))).code)
}

func (b *fixture) deleteAccount(id string) {
	require.Equal(b.t, 200, b.do("DELETE", "/g/account?id="+id, nil, cookie(b.signIn("asu@m"))).code)
}

type reply struct {
	code   int
	header http.Header
	body   map[string]any
	html   string // the body as it came
}

func (r reply) text(name string) string { s, _ := r.body[name].(string); return s }

// do sends a request. A body that is url.Values goes as a form, anything else as JSON.
func (b *fixture) do(method, path string, body any, more ...func(*http.Request)) reply {
	b.t.Helper()
	var content io.Reader
	kind := ""
	switch v := body.(type) {
	case nil:
	case url.Values:
		content, kind = strings.NewReader(v.Encode()), "application/x-www-form-urlencoded"
	default:
		raw, err := json.Marshal(v)
		require.NoError(b.t, err)
		content, kind = bytes.NewReader(raw), "application/json"
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.server.URL+path, content)
	require.NoError(b.t, err)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for _, f := range more {
		f(r)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(b.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	out := reply{code: res.StatusCode, header: res.Header, html: string(raw)}
	if len(raw) > 0 && raw[0] == '{' {
		require.NoError(b.t, json.Unmarshal(raw, &out.body), "%s", raw)
	}
	return out
}

func cookie(key string) func(*http.Request) {
	return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "auth_key", Value: key}) }
}

func basic(id, secret string) func(*http.Request) {
	return func(r *http.Request) { r.SetBasicAuth(id, secret) }
}

func bearer(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

// signIn signs in through /g/ and returns the session.
func (b *fixture) signIn(email string) string {
	b.t.Helper()
	r := b.do("POST", "/g/aaa/authenticate", map[string]string{"username": email, "password": password})
	require.Equal(b.t, 200, r.code, "%v", r.body)
	r = b.do("POST", "/g/aaa/authorize", map[string]string{"token": r.text("token")})
	require.Equal(b.t, 200, r.code)
	for _, line := range r.header.Values("Set-Cookie") {
		c, err := http.ParseSetCookie(line)
		require.NoError(b.t, err)
		if c.Name == "auth_key" {
			return c.Value
		}
	}
	require.Fail(b.t, "no session")
	return ""
}

// client makes a client as the account superuser of an account does.
func (b *fixture) client(account string, more map[string]any) (id, secret string) {
	b.t.Helper()
	body := map[string]any{"name": "App of " + account, "redirect_uris": []string{back}}
	for k, v := range more {
		body[k] = v
	}
	r := b.do("POST", "/oauth2/clients", body, cookie(b.signIn("asu@"+account)))
	require.Equal(b.t, 201, r.code, "%v", r.body)
	return r.text("client_id"), r.text("client_secret")
}

const back = "https://app.example.org/back?x=1"

// token asks for tokens with parameters in pairs.
func (b *fixture) token(auth func(*http.Request), pairs ...string) reply {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	if auth == nil {
		return b.do("POST", "/oauth2/token", form)
	}
	return b.do("POST", "/oauth2/token", form, auth)
}

// opens is whom a token stands for at /api/, "" if nobody.
func (b *fixture) opens(token string) string {
	b.t.Helper()
	r := b.do("GET", "/api/v3.0/users/self", nil, bearer(token))
	if r.code == 401 {
		return ""
	}
	require.Equal(b.t, 200, r.code)
	return r.text("account") + ":" + r.text("email")
}

const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

func challenge() string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

var proofForm = regexp.MustCompile(`name="proof" value="([A-Za-z0-9_-]{43})"`)

// proofOf is what a page that asks for consent lets its form send, "" if it is no such page.
func proofOf(r reply) string {
	if m := proofForm.FindStringSubmatch(r.html); m != nil {
		return m[1]
	}
	return ""
}

// code asks for a code, agrees if it is asked, and returns the parameters that it came back with.
func (b *fixture) code(key string, pairs ...string) (reply, url.Values) {
	b.t.Helper()
	q := url.Values{"response_type": {"code"}, "state": {"s t&"}}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	var auth []func(*http.Request)
	if key != "" {
		auth = append(auth, cookie(key))
	}
	r := b.do("GET", "/oauth2/authorize?"+q.Encode(), nil, auth...)
	if proof := proofOf(r); proof != "" {
		r = b.do("POST", "/oauth2/authorize?"+q.Encode(), url.Values{"decision": {"allow"}, "proof": {proof}}, auth...)
	}
	to, err := url.Parse(r.header.Get("Location"))
	require.NoError(b.t, err)
	return r, to.Query()
}
