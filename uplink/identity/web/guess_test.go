package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/session"
)

// at is a browser at an address, with cookies.
type at struct {
	b       *fixture
	http    *http.Client
	cookies map[string]string
}

func (b *fixture) at(address string) *at {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	tr := &http.Transport{DialContext: d.DialContext}
	b.t.Cleanup(tr.CloseIdleConnections)
	return &at{b, &http.Client{Transport: tr}, map[string]string{}}
}

func (x *at) post(path string, a args) (code int, out map[string]any) {
	x.b.t.Helper()
	raw, err := json.Marshal(a)
	require.NoError(x.b.t, err)
	r, err := http.NewRequestWithContext(x.b.t.Context(), http.MethodPost, x.b.server.URL+path, bytes.NewReader(raw))
	require.NoError(x.b.t, err)
	for name, v := range x.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: v})
	}
	res, err := x.http.Do(r)
	require.NoError(x.b.t, err)
	defer res.Body.Close()
	for _, c := range res.Cookies() {
		x.cookies[c.Name] = c.Value
	}
	_ = json.NewDecoder(res.Body).Decode(&out)
	return res.StatusCode, out
}

// signIn is the two steps.
func (x *at) signIn(email, password string) int {
	code, out := x.post("/g/aaa/authenticate", login(email, password))
	if code == 200 {
		code, _ = x.post("/g/aaa/authorize", args{"token": out["token"]})
	}
	return code
}

// However many guess from wherever: the owner gets in at the first try at a known device, also
// behind the router that a guesser is behind, and from a fresh address, and the guesses stay
// bounded.
func TestGuessersKeepNobodyOut(t *testing.T) {
	b := newFixture(t, func(o *Options, _ *session.Options) { o.Limits = DefaultLimits })
	home := b.at("127.0.9.1")
	require.Equal(t, 200, home.signIn("ru@c", password))
	require.NotEmpty(t, home.cookies[api.CookieMark])
	delete(home.cookies, api.CookieSession)
	delete(home.cookies, api.CookieSessionOld)
	var guessers []*at
	for i := range 30 {
		guessers = append(guessers, b.at(fmt.Sprintf("127.0.1.%d", i+1)))
	}
	guessers = append(guessers, b.at("127.0.9.1")) // behind the owner's own router
	looked := func() (n int) {
		for _, g := range guessers {
			for range 5 {
				if code, _ := g.post("/g/aaa/authenticate", login("ru@c", "wrong wrong 1")); code == 401 {
					n++
				}
			}
		}
		return n
	}
	require.Equal(t, 31*DefaultLimits.Free.Burst+DefaultLimits.PerUser.Burst, looked(),
		"each its own, and all together theirs")
	for i := range 25 {
		require.Equal(t, 200, home.signIn("ru@c", password), "known device, %d", i)
		require.Equal(t, 200, b.at(fmt.Sprintf("127.0.2.%d", i+1)).signIn("RU@c", password), "fresh address, %d", i)
		for _, g := range guessers {
			code, _ := g.post("/g/aaa/authenticate", login("ru@c", password))
			require.Equal(t, 429, code, "the right password is not looked at for who has guessed enough")
		}
	}
	b.Advance(10 * time.Minute)
	require.Equal(t, 10, looked(), "one a minute")
	for range 200 {
		_, _ = guessers[30].post("/g/aaa/authenticate", login("nobody@c", "wrong wrong 1"))
	}
	require.Equal(t, 429, b.at("127.0.9.1").signIn("asu@c", password), "the router has used up what it has")
	require.Equal(t, 200, home.signIn("ru@c", password), "the known device behind it has not")
}

// The mark of a device opens nothing, is bounded itself, says nothing about other users, and is
// forgotten with the password.
func TestMarkOfADevice(t *testing.T) {
	b := newFixture(t, func(o *Options, _ *session.Options) {
		o.Limits = Limits{PerAddress: Limit{1000, time.Minute}, PerUser: Limit{1, time.Hour},
			PerDevice: Limit{2, time.Hour}}
	})
	x := b.at("127.0.0.1")
	require.Equal(t, 200, x.signIn("ru@c", password))
	require.Equal(t, 200, x.signIn("asu@c", password))
	mark := x.cookies[api.CookieMark]
	both, err := b.sessions.Knows(mark)
	require.NoError(t, err)
	require.Len(t, both, 2, "one device may serve several")
	wrong := func(email string, mark string) int {
		y := b.at("127.0.0.1")
		y.cookies[api.CookieMark] = mark
		code, _ := y.post("/g/aaa/authenticate", login(email, "wrong wrong 1"))
		return code
	}
	other := b.at("127.0.0.2")
	require.Equal(t, 200, other.signIn("ru@o", password))
	require.Equal(t, []int{401, 429}, []int{wrong("ru@c", ""), wrong("ru@c", "")})
	require.Equal(t, 429, wrong("ru@c", "x~"+other.cookies[api.CookieMark]), "another user's mark")
	require.Equal(t, 429, wrong("ru@c", b.User("ru@c").ID+".1763312400."+strings.Repeat("0", 43)))
	require.Equal(t, []int{401, 401, 429}, []int{wrong("ru@c", mark), wrong("ru@c", mark+"~x"),
		wrong("ru@c", "y~"+mark)})
	b.Advance(24 * time.Hour)
	for i := range 30 {
		require.Equal(t, 200, b.at("127.0.0.3").signIn("ru@c", password), i)
	}
	require.Equal(t, 401, wrong("ru@c", mark), "still known, however often others sign in")
	b.Advance(400 * 24 * time.Hour)
	old, err := b.sessions.Knows(mark)
	require.NoError(t, err)
	require.Empty(t, old, "too long ago")
	y := b.at("127.0.0.1")
	require.Equal(t, 200, y.signIn("ru@c", password))
	code, _ := y.post("/g/aaa/change_password", args{"current_password": password, "password": fresh})
	require.Equal(t, 200, code)
	known, err := b.sessions.Knows(y.cookies[api.CookieMark])
	require.NoError(t, err)
	require.Empty(t, known)
}
