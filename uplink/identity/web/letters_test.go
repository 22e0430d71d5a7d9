package web

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/store"
)

// restart loses the messages that wait, as the end of the program does, and begins anew.
func (b *fixture) restart() {
	b.t.Helper()
	b.outbox.mu.Lock()
	b.outbox.sent = nil
	b.outbox.mu.Unlock()
	require.NoError(b.t, b.sessions.Resume())
}

func (b *fixture) noted() (out []model.QueuedMessage) {
	b.t.Helper()
	require.NoError(b.t, b.Store.View(func(tx *store.Tx) (err error) { out, err = tx.QueuedMessages(); return err }))
	return out
}

// A message that was not sent when the program ended is written anew at the next start, with
// another link, as long as its user needs it. What is noted until then opens nothing.
func TestLettersOutliveARestart(t *testing.T) {
	b := newFixture(t)
	asu := b.signIn("asu@c")
	b.call("POST", "/g/aaa/create_account", "", args{"email": "new@n.org", "password": fresh}).want(202)
	for _, name := range []string{"stays", "goes", "sets"} {
		b.call("PUT", "/g/user", asu, newUser(name+"@c")).want(200)
	}
	b.call("POST", "/g/aaa/forgot_password", "", args{"email": "ru@c"}).want(202)
	b.EditAccount("c", func(a *model.Account) { a.LoginAttemptLimit = 1 })
	b.user("lock@c", nil)
	b.call("POST", "/g/aaa/authenticate", "", login("lock@c", "wrong wrong 1")).want(401)
	old := map[string]notify.Message{}
	for _, to := range []string{"new@n.org", "stays@c", "goes@c", "sets@c", "ru@c", "lock@c"} {
		old[to] = b.message(to)
	}
	b.call("DELETE", "/g/user", asu, args{"id": b.User("goes@c").ID}).want(200)
	b.call("POST", "/g/aaa/reset_password", "", args{"token": old["sets@c"].Token, "password": fresh}).want(200)
	sent := old["ru@c"]
	raw, err := os.ReadFile(filepath.Join(b.Dir, "identity.db"))
	require.NoError(t, err)
	for to, l := range old {
		require.False(t, l.Token != "" && bytes.Contains(raw, []byte(l.Token)), "the link of %s is on the disk", to)
	}

	b.restart()
	require.Zero(t, b.messagesTo("goes@c")+b.messagesTo("sets@c"))
	require.Equal(t, notify.Locked, b.message("lock@c").Kind)
	for to, path := range map[string]string{"stays@c": "/g/aaa/reset_password", "ru@c": "/g/aaa/reset_password"} {
		require.NotEqual(t, old[to].Token, b.message(to).Token)
		b.call("POST", path, "", args{"token": old[to].Token, "password": fresh}).want(406)
		b.call("POST", path, "", args{"token": b.message(to).Token, "password": fresh}).want(200)
	}
	l := b.message("new@n.org")
	b.call("POST", "/g/aaa/validate_account", "", args{"id": l.AccountID, "token": l.Token}).want(200)
	b.restart()
	require.Equal(t, 1, len(b.outbox.sent), "only the lock is still to be told")

	// Sent, it is not sent again; late, it is not sent either.
	require.NoError(t, b.Store.MessageDone(sent.UserID, string(sent.Kind), sent.Seq))
	l = b.message("lock@c")
	require.NoError(t, b.Store.MessageDone(l.UserID, string(l.Kind), l.Seq-1))
	require.Len(t, b.noted(), 1, "an older message was done")
	require.NoError(t, b.Store.MessageDone(l.UserID, string(l.Kind), l.Seq))
	require.Empty(t, b.noted())
	b.call("PUT", "/g/user", asu, newUser("late@c")).want(200)
	b.Advance(8 * 24 * time.Hour)
	b.restart()
	require.Zero(t, b.messagesTo("late@c"))
	require.Empty(t, b.noted())
}
