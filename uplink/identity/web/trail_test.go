package web

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

func (b *fixture) listed(key string, a args) []line {
	b.t.Helper()
	var out []line
	b.call("GET", "/g/audit/list", key, a).want(200).into(&out)
	return out
}

// Who did what to whom, when, from where, and which fields: the newest first, and no values.
func TestTrailTellsWhoDidWhat(t *testing.T) {
	b := newFixture(t)
	key := b.signIn("asu@c")
	id := b.call("PUT", "/g/user", key, newUser("made@c")).want(200).field("id")
	b.call("POST", "/g/user", key, args{"id": id, "first_name": "Secret Name", "is_live_video": 0}).want(200)
	b.call("DELETE", "/g/user", key, args{"id": id}).want(200)
	list := b.listed(key, nil)
	require.GreaterOrEqual(t, len(list), 4)
	var told []string
	for i, l := range list[:3] {
		told = append(told, l.Action+" "+l.Kind+" "+l.Name)
		require.Equal(t, "asu@c", l.UserEmail)
		require.Equal(t, b.ids["asu@c"], l.UserID)
		require.Equal(t, "127.0.0.1", l.Address)
		require.Equal(t, "2026-11-16T17:00:00.000Z", l.Time)
		require.Equal(t, id, l.Target)
		require.Greater(t, l.Seq, list[i+1].Seq)
	}
	require.Equal(t, []string{"delete user made@c", "update user made@c", "create user made@c"}, told)
	require.ElementsMatch(t, []string{"first_name", "is_live_video"}, list[1].Fields)
	require.NotContains(t, fmt.Sprint(list), "Secret Name")
	// Pages do not overlap and leave nothing out.
	var paged []line
	next := args{"limit": 2}
	for {
		part := b.listed(key, next)
		if len(part) == 0 {
			break
		}
		paged = append(paged, part...)
		next = args{"limit": 2, "before": int(part[len(part)-1].Seq)}
	}
	require.Equal(t, list, paged)
	for _, a := range []args{{"limit": 0}, {"limit": 1001}, {"limit": "x"}, {"before": -1}, {"what": "else"}} {
		b.call("GET", "/g/audit/list", key, a).want(400, a)
	}
}

func TestWhoMayListTheTrail(t *testing.T) {
	b := newFixture(t)
	b.user("view@c", func(u *model.User) { u.IsViewAuditTrail = true })
	b.user("view@m", func(u *model.User) { u.IsViewAuditTrail = true })
	b.user("entering@m", func(u *model.User) { u.IsViewAuditTrail, u.IsEditUsers = true, true })
	b.user("flags@c", func(u *model.User) { u.IsEditAccount, u.IsEditUsers, u.IsEditAllAndAdd = true, true, true })
	for _, c := range []struct {
		who, account string
		want         int
	}{
		{"asu@c", "c", 200}, {"asu@c", "m", 403}, {"asu@c", "s", 403}, {"asu@c", "o", 403}, {"asu@c", "none", 404},
		{"ru@c", "c", 403}, {"flags@c", "c", 403}, {"view@c", "c", 200}, {"view@c", "s", 403}, {"view@c", "m", 403},
		{"asu@m", "m", 200}, {"asu@m", "c", 200}, {"asu@m", "o", 403}, {"ru@m", "m", 403},
		{"view@m", "m", 200}, {"view@m", "c", 403}, {"entering@m", "c", 200}, {"entering@m", "o", 403},
		{"root@m", "o", 200},
	} {
		b.call("GET", "/g/audit/list", b.signIn(c.who), args{"account_id": c.account}).want(c.want, c)
	}
	b.call("GET", "/g/audit/list", "", nil).want(401)
	for _, l := range b.listed(b.signIn("asu@c"), nil) {
		require.Equal(t, "c", l.AccountID)
	}
	// That a sub-account was deleted stands in its parent's trail.
	master := b.signIn("asu@m")
	b.call("DELETE", "/g/account", master, args{"id": "s"}).want(200)
	require.Equal(t, "delete account s", fmt.Sprintf("%s %s %s", b.listed(master, nil)[0].Action,
		b.listed(master, nil)[0].Kind, b.listed(master, nil)[0].Target))
}

// entries is how many there are in the trail of all accounts.
func (b *fixture) entries() (n int) {
	b.t.Helper()
	require.NoError(b.t, b.Store.View(func(tx *store.Tx) error {
		list, err := tx.AuditTrailAfter(0, 1<<20)
		n = len(list)
		return err
	}))
	return n
}
