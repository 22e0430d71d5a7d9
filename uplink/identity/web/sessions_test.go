package web

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
)

// Sessions are listed by the device's name and the last use, and ended one by one, by the user or
// who manages them; those that are over are not among them.
func TestSessionsAreListedAndEnded(t *testing.T) {
	b := newFixture(t)
	b.EditAccount("c", func(a *model.Account) { a.InactiveSessionTimeout = 7200 })
	signIn := func(agent string) string {
		says := func(r *http.Request) { r.Header.Set("User-Agent", agent) }
		token := b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password), says).want(200).field("token")
		return b.call("POST", "/g/aaa/authorize", "", args{"token": token}, says).want(200).cookie("auth_key").Value
	}
	list := func(key string, a args) (out []shownSession) {
		b.call("GET", pathSessions, key, a).want(200).into(&out)
		return out
	}
	signIn("Old")
	b.Advance(3 * time.Hour)
	phone := signIn("Phone\t1")
	b.Advance(time.Hour)
	desk := signIn("Desk")
	b.Advance(time.Minute)
	got := list(phone, nil)
	require.Len(t, got, 2, "the old one is over")
	require.Equal(t, shownSession{ID: (model.Session{Hash: identity.HashToken(phone)}).ID(), Name: "Phone1",
		From: got[0].From, Created: "20261116200000.000", Used: "20261116210100.000", Current: true}, got[0])
	require.NotEmpty(t, got[0].From)
	require.Equal(t, []any{"Desk", model.Flag(false)}, []any{got[1].Name, got[1].Current})
	require.NotContains(t, string(b.call("GET", pathSessions, phone, nil).want(200).body), desk)

	// One is ended, and nothing of it is left; the other goes on.
	b.call("DELETE", pathSessions, phone, args{"session_id": got[1].ID}).want(200)
	b.call("GET", "/g/aaa/isauth", desk, nil).want(401)
	b.call("GET", "/g/aaa/isauth", phone, nil).want(200)
	b.call("DELETE", pathSessions, phone, args{"session_id": got[1].ID}).want(404)
	b.call("DELETE", pathSessions, phone, nil).want(400)
	b.call("DELETE", pathSessions, "", args{"session_id": got[0].ID}).want(401)
	b.call("GET", pathSessions, phone, args{"x": "y"}).want(400)
	b.call("GET", pathSessions, "", nil).want(401)

	// Who manages the user may do so too, and nobody else.
	asu, id := b.session("asu@c"), b.ids["ru@c"]
	require.Len(t, list(asu, args{"id": id}), 1)
	b.call("GET", pathSessions, b.session("asu@o"), args{"id": id}).want(404)
	b.call("GET", pathSessions, phone, args{"id": b.ids["asu@c"]}).want(404)
	b.call("DELETE", pathSessions, asu, args{"id": id, "session_id": got[0].ID}).want(200)
	b.call("GET", "/g/aaa/isauth", phone, nil).want(401)
}
