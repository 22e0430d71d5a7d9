package web

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
)

// trust signs a user in with a code and returns the session and the device's cookie.
func (b *fixture) trust(email string, more ...func(*http.Request)) (key, tfa string) {
	b.t.Helper()
	token := b.begin(email, more...)
	right, _ := b.code(token, "email", email)
	r := b.call("POST", "/g/aaa/authorize", "", args{"token": token, codeArg: right}, more...).want(200)
	return r.cookie("auth_key").Value, r.cookie("tfa_key").Value
}

// A link in a mail is one factor: who needs two gets the first answer of a sign-in, no session and
// no bearer token before the code, and the devices that were trusted are trusted no more.
func TestResetAsksForTheCode(t *testing.T) {
	for name, forced := range map[string]bool{"of the user's own will": false, "forced by the account": true} {
		t.Run(name, func(t *testing.T) {
			b := newFixture(t, withFactor(nil))
			b.EditUser("ru@c", func(u *model.User) { u.IsFactorEnabled = model.Flag(!forced) })
			b.EditAccount("c", func(a *model.Account) { a.IsFactorForced = model.Flag(forced) })
			_, tfa := b.trust("ru@c")
			b.call("POST", "/g/aaa/forgot_password", "", args{"email": "ru@c"}).want(202)
			r := b.call("POST", "/g/aaa/reset_password", "",
				args{"token": b.message("ru@c").Token, "password": fresh}, device(tfa)).want(200)
			require.Empty(t, r.cookies)
			require.Equal(t, b.ids["ru@c"], r.field("user_id"))
			require.Contains(t, string(r.body), codeArg)
			require.NotContains(t, string(r.body), "ru@c", "the address is masked")
			token := r.field("token")
			b.call("POST", "/g/aaa/authorize", "", args{"token": token}, device(tfa)).want(401, "without the code")
			right, wrong := b.code(token, "email", "ru@c")
			b.call("POST", "/g/aaa/authorize", "", args{"token": token, codeArg: wrong}).want(406)
			b.call("GET", "/g/aaa/isauth", token, nil).want(401)
			key := b.call("POST", "/g/aaa/authorize", "",
				args{"token": token, codeArg: right}).want(200).cookie("auth_key").Value
			b.call("GET", "/g/aaa/isauth", key, nil).want(200)
			again := b.call("POST", "/g/aaa/authenticate", "", login("ru@c", fresh), device(tfa)).want(200)
			require.Contains(t, string(again.body), codeArg, "the device from before the reset")
		})
	}
	t.Run("a new account", func(t *testing.T) {
		b := newFixture(t, withFactor(nil))
		b.call("POST", "/g/aaa/create_account", "", args{"email": "new@x.org", "password": fresh}).want(202)
		b.EditUser("new@x.org", func(u *model.User) { u.IsFactorEnabled = true })
		r := b.call("POST", "/g/aaa/validate_account", "",
			args{"id": b.User("new@x.org").OwnerAccountID, "token": b.message("new@x.org").Token}).want(200)
		require.Empty(t, r.cookies)
		require.Contains(t, string(r.body), codeArg)
	})
}

// Trusted devices are listed, named and taken out one by one, by the user or who manages them, and
// go with the password.
func TestTrustedDevicesAreListed(t *testing.T) {
	b := factorFixture(t)
	agent := func(s string) func(*http.Request) { return func(r *http.Request) { r.Header.Set("User-Agent", s) } }
	key, phone := b.trust("ru@c", agent("Phone \t"+strings.Repeat("é", 80)))
	b.Advance(time.Hour)
	_, sessions := b.trust("ru@c", agent("Desk"))
	list := func(key string, a args, more ...func(*http.Request)) (out []trusted) {
		b.call("GET", pathClients, key, a, more...).want(200).into(&out)
		return out
	}
	got := list(key, nil, device(phone))
	require.Len(t, got, 2)
	require.Equal(t, []string{model.Device{Hash: identity.HashToken(phone)}.ID(), "20261116170000.000", ""},
		[]string{got[0].ID, got[0].Created, got[0].Used})
	require.Regexp(t, "^Phone é{47}$", got[0].Name)
	require.Equal(t, []bool{true, false}, []bool{bool(got[0].Current), bool(got[1].Current)})
	require.Contains(t, string(b.call("GET", "/g/user", key, nil).want(200).body), `"user_authenticated_clients":["`+
		got[0].ID+`","`+got[1].ID+`"]`)
	signIn := func(tfa string) string {
		r := b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password), device(tfa)).want(200)
		if !strings.Contains(string(r.body), codeArg) {
			b.call("POST", "/g/aaa/authorize", "", args{"token": r.field("token")}, device(tfa)).want(200)
			return "trusted"
		}
		return "code"
	}
	require.Equal(t, "trusted", signIn(sessions))
	b.call("POST", pathClients, key, args{"client_id": got[1].ID, "name": "Office"}).want(200)
	after := list(key, nil)
	require.Equal(t, []string{"Office", "20261116180000.000"}, []string{after[1].Name, after[1].Used})
	b.call("POST", pathClients, key, args{"client_id": got[1].ID, "name": "a\nb"}).want(400)
	b.call("POST", pathClients, key, args{"client_id": "none", "name": "x"}).want(404)
	b.call("POST", pathClients, "", args{"client_id": got[1].ID, "name": "x"}).want(401)
	b.call("DELETE", pathClients, key, args{"client_id": got[1].ID}).want(200)
	b.call("DELETE", pathClients, key, args{"client_id": got[1].ID}).want(404)
	b.call("DELETE", pathClients, key, nil).want(400)
	b.call("DELETE", pathClients, "", args{"client_id": got[0].ID}).want(401)
	require.Equal(t, []string{"code", "trusted"}, []string{signIn(sessions), signIn(phone)})

	// Who manages the user may do so too, and nobody else.
	asu, id := b.session("asu@c"), b.ids["ru@c"]
	require.Len(t, list(asu, args{"id": id}), 1)
	b.call("GET", pathClients, b.session("asu@o"), args{"id": id}).want(404)
	b.call("GET", pathClients, key, args{"id": b.ids["asu@c"]}).want(404)
	b.call("GET", pathClients, key, args{"x": "y"}).want(400)
	b.call("GET", pathClients, "", nil).want(401)
	b.call("DELETE", pathClients, asu, args{"id": id, "client_id": got[0].ID}).want(200)
	require.Equal(t, "code", signIn(phone))

	_, phone = b.trust("ru@c")
	b.call("POST", "/g/aaa/change_password", key, args{"password": fresh, "current_password": password}).want(200)
	require.Empty(t, list(key, nil))
	require.Contains(t, string(b.call("POST", "/g/aaa/authenticate", "", login("ru@c", fresh),
		device(phone)).want(200).body), codeArg)
}
