package web

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/store"
)

// newSub is what PUT /g/account needs.
func newSub() args {
	return args{"name": "Sub", "contact_first_name": "C", "contact_last_name": "D", "contact_email": "cd@sub.org"}
}

func TestGetAccount(t *testing.T) {
	b := newFixture(t)
	asu, ru, master, root := b.signIn("asu@c"), b.signIn("ru@c"), b.signIn("asu@m"), b.signIn("root@m")
	get := func(key, id string) reply { return b.call("GET", "/g/account", key, args{"id": id}) }
	var a model.Account
	var fields map[string]json.RawMessage
	r := get(asu, "c").want(200).into(&a)
	r.into(&fields)
	require.Len(t, fields, len(model.AccountFields)-3, "every field of the interface, and none that acts once")
	require.Equal(t, "cameras of c", a.DefaultCameraPasswords)
	require.Equal(t, "m", a.OwnerAccountID)
	require.Equal(t, -8*3600, a.UTCOffset)
	require.True(t, bool(a.IsActive))
	get(ru, "c").want(200).into(&a)
	require.Empty(t, a.DefaultCameraPasswords, "not for those who may not edit the account")
	get(master, "c").want(200).into(&a)
	require.Equal(t, "cameras of c", a.DefaultCameraPasswords)
	get(root, "o").want(200)
	for _, id := range []string{"m", "s", "o"} {
		get(asu, id).want(403, id)
	}
	get(asu, "nobody").want(404)
	b.call("GET", "/g/account", asu, nil).want(400)
	b.call("GET", "/g/account", asu, args{"id": "c", "what": "else"}).want(400)
	b.call("GET", "/g/account", asu, args{"id": "o", "what": "else"}).want(403, "403 stands above 400")
	b.call("GET", "/g/account", asu, args{"id": "nobody", "what": "else"}).want(404, "404 stands above 400")
	get("", "c").want(401)
	b.call("GET", "/g/account", "", args{"what": "else"}).want(401, "401 stands above 400")
}

func TestPutAccount(t *testing.T) {
	b := newFixture(t)
	master := b.signIn("asu@m")
	put := func(key string, a args) reply { return b.call("PUT", "/g/account", key, a) }
	full := args{"name": "Sub", "contact_first_name": "C", "contact_last_name": "D", "contact_email": "cd@sub.org",
		"contact_street": []string{"1 Road"},
		"contact_city":   "Austin", "contact_state": "TX", "contact_postal_code": "78701", "contact_country": "US",
		"owner_account_id": "m", "timezone": "US/Central",
		"status": []string{"active"}, "access_restriction": []string{"enable_mobile"},
		"allowable_ip_address_range": []string{"0.0.0.0/0"}, "session_duration": 60,
		"holiday": []string{"20261225"}, "work_days": "1111110", "work_hours": []string{"0700", "1900"},
		"alert_mode": []string{"night"}, "active_alert_mode": "night",
		"default_camera_passwords": "a,b", "is_without_initial_user": 0, "is_initial_user_not_admin": 0}
	id := put(master, full).want(200).field("id")
	a := b.Account(id)
	require.Equal(t, []any{"m", "US/Central", 60, "night", "a,b"},
		[]any{a.OwnerAccountID, a.Timezone, a.SessionDuration, a.ActiveAlertMode, a.DefaultCameraPasswords})
	u := b.User("cd@sub.org")
	require.True(t, bool(u.IsAccountSuperuser && u.IsPending))
	require.Equal(t, id, u.OwnerAccountID)
	require.Equal(t, notify.UserCreated, b.message("cd@sub.org").Kind)
	b.call("POST", "/g/aaa/reset_password", "", args{"token": b.message("cd@sub.org").Token, "password": fresh}).want(
		200)

	// The defaults: pending, with a link that activates it and a session, and then one for the
	// first password.
	id = put(master, newSub().with("contact_email", "two@sub.org")).want(200).field("id")
	a = b.Account(id)
	require.Equal(t, model.Texts{model.StatusPending}, a.Status)
	require.Equal(t, "US/Pacific", a.Timezone)
	l := b.message("two@sub.org")
	require.Equal(t, notify.Registration, l.Kind)
	r := b.call("POST", "/g/aaa/validate_account", "", args{"id": id, "token": l.Token}).want(200)
	b.call("GET", "/g/aaa/isauth", r.cookie("auth_key").Value, nil).want(200)
	require.Equal(t, notify.UserCreated, b.message("two@sub.org").Kind)
	b.call("POST", "/g/aaa/reset_password", "", args{"token": b.message("two@sub.org").Token,
		"password": fresh}).want(200)
	b.call("POST", "/g/aaa/authenticate", "", login("two@sub.org", fresh)).want(200)

	put(master, newSub().with("contact_email", "three@sub.org").with("is_initial_user_not_admin", 1)).want(200)
	require.False(t, bool(b.User("three@sub.org").IsAccountSuperuser))
	id = put(master, newSub().with("contact_email", "four@sub.org").with("is_without_initial_user", 1)).want(
		200).field("id")
	users, err := b.Store.Users(id)
	require.NoError(t, err)
	require.Empty(t, users)

	put(master, newSub()).want(409)
	put(master, newSub().with("contact_email", "RU@c")).want(409)
	put(b.signIn("ru@c"), newSub()).want(403, "who may not is not told of an address")
	for _, who := range []string{"asu@c", "ru@m", "asu@o"} {
		put(b.signIn(who), newSub().with("contact_email", "x@sub.org")).want(403, who)
	}
	put(master, newSub().with("contact_email", "x@sub.org").with("owner_account_id", "c")).want(403)
	put(master, newSub().with("contact_email", "x@sub.org").with("owner_account_id", "nobody")).want(403)
	put(b.signIn("root@m"), newSub().with("contact_email", "root@sub.org").with("owner_account_id", "o")).want(200)
	b.EditUser("ru@m", func(u *model.User) { u.IsEditAccount = true })
	put(b.signIn("ru@m"), newSub().with("contact_email", "y@sub.org")).want(200)
	put(b.signIn("ru@m"), newSub().with("contact_email", "z@sub.org").with("status", []string{"active"})).want(403,
		"status is the account superuser's")
	for name, v := range map[string]any{"name": "", "contact_email": "none", "timezone": "x", "is_master": 1,
		"what": "else", "active_alert_mode": "day"} {
		put(master, newSub().with("contact_email", "v@sub.org").with(name, v)).want(400, name)
	}
	put("", newSub()).want(401)
	trail := b.trail(id)
	require.Equal(t, model.AuditCreate, trail[len(trail)-1].Action)
	require.Equal(t, "asu@m", trail[len(trail)-1].ByName)
}

// trail is what stands in an account's trail, newest first.
func (b *fixture) trail(account string) (out []model.AuditEntry) {
	b.t.Helper()
	require.NoError(b.t, b.Store.View(func(tx *store.Tx) (err error) {
		out,
			err = tx.AuditTrail(account, 0, 1000)
		return err
	}))
	return out
}

func TestPostAccount(t *testing.T) {
	b := newFixture(t)
	asu, ru, master, root := b.signIn("asu@c"), b.signIn("ru@c"), b.signIn("asu@m"), b.signIn("root@m")
	post := func(key string, a args) reply { return b.call("POST", "/g/account", key, a) }
	all := args{"id": "c", "name": "New", "contact_first_name": "A", "contact_last_name": "B", "contact_email": "n@c",
		"contact_street": []string{"x"}, "contact_city": "c",
		"contact_state": "s", "contact_postal_code": "p", "contact_country": "US", "contact_phone": "1",
		"contact_mobile_phone": "2", "timezone": "UTC",
		"access_restriction": []string{}, "allowable_ip_address_range": []string{"10.0.0.0/8"},
		"session_duration": 30, "holiday": []string{"20261231"}, "work_days": "0000000",
		"work_hours": []string{"0000", "2400"}, "alert_mode": []string{"a", "b"}, "active_alert_mode": "b",
		"default_camera_passwords": "q", "is_revoke_admins": 0,
		"brand_subdomain": "sub", "brand_corp_url": "https://c.example", "brand_name": "C",
		"brand_support_phone": "3", "brand_saml_nameid_path": "a/b",
		"first_responders": [][]string{{"r@x.org", "R", "", "", ""}}, "responder_active": true,
		"responder_cameras": []string{"cam1-c"}, "inactive_session_timeout": 900,
		"login_attempt_limit": 5, "is_rtsp_cameras_enabled": 0, "default_cluster": "c001",
		"is_system_notification_images_enabled": 1, "map_lines": map[string]any{"l": []int{1}},
		"contact_utc_offset": 60, "is_two_factor_authentication_forced": 1,
		"camera_shares":      [][]string{{"M", "cam1-c", "ru@o"}},
		"camera_share_perms": map[string]any{"cam1-c": map[string]any{"ru@o": []string{"ptz_live"}}}}
	require.Equal(t, "c", post(asu, all).want(200).field("id"))
	a := b.Account("c")
	require.Equal(t, []any{"New", "UTC", 30, 900, 5, "b", true, model.Flag(true)},
		[]any{a.Name, a.Timezone, a.SessionDuration, a.InactiveSessionTimeout, a.LoginAttemptLimit, a.ActiveAlertMode,
			a.ResponderActive, a.IsFactorForced})
	require.Equal(t, model.Lists{{"cam1-c", "ru@o,o"}}, a.CameraShares)
	last := b.trail("c")[0]
	require.Equal(t, model.AuditUpdate, last.Action)
	require.Contains(t, last.Fields, "default_camera_passwords")
	require.Equal(t, "asu@c", last.ByName)

	// What a client read it may send back whole.
	var whole args
	b.call("GET", "/g/account", asu, args{"id": "c"}).want(200).into(&whole)
	require.NotEmpty(t, whole["camera_shares"])
	entries := len(b.trail("c"))
	post(asu, whole).want(200)
	require.Len(t, b.trail("c"), entries, "nothing changed, nothing is written")
	without := whole.with("name", "N")
	delete(without, "camera_share_perms")
	post(asu, without).want(400, "the two belong together")
	post(asu, whole.with("camera_share_perms", map[string]any{})).want(400,
		"the shares are not in the form of a change")
	post(asu, whole.with("utc_offset", 7)).want(400, "a field that cannot be set here")

	for name, v := range map[string]any{"status": []string{"active"}, "customer_id": "7",
		"is_disable_all_settings": 1, "is_master": 1, "product_edition": "e", "camera_quantity": 9,
		"is_custom_brand_allowed": 1, "is_custom_brand": 1} {
		if name == "status" {
			v = []string{"suspended"}
		}
		post(asu, args{"id": "c", name: v}).want(403, name)
		post(root, args{"id": "o", name: v}).want(200, name)
	}
	post(master, args{"id": "c", "customer_id": "7", "is_advanced_disabled": 1,
		"is_master_video_disabled_allowed": 1}).want(200)
	post(asu, args{"id": "c", "default_cluster": "c009"}).want(403, "the reseller took it away")
	post(asu, args{"id": "c", "is_master_video_disabled": 1}).want(200, "and allowed this")
	post(master, args{"id": "c", "is_disable_all_settings": 1}).want(200)
	post(asu, args{"id": "c", "name": "Mine"}).want(403)
	post(asu, args{"id": "c", "camera_shares": [][]string{{"D", "cam1-c"}},
		"camera_share_perms": map[string]any{}}).want(200, "sharing stays")
	post(master, args{"id": "c", "name": "Theirs", "is_disable_all_settings": 0}).want(200)

	post(ru, args{"id": "c"}).want(403)
	post(ru, args{"id": "c", "name": "x"}).want(403)
	post(ru, args{"id": "c", "what": "else"}).want(403, "403 stands above 400")
	post(asu, args{"id": "nobody", "what": "else"}).want(404)
	post(asu, args{"id": "c", "camera_shares": [][]string{{"M", "cam1-o", "ru@o"}},
		"camera_share_perms": map[string]any{}}).want(404, "a camera of another account")
	for _, id := range []string{"m", "s", "o"} {
		post(asu, args{"id": id, "name": "x"}).want(403, id)
	}
	post(asu, args{"name": "x"}).want(400)
	post("", args{"id": "c", "name": "x"}).want(401)
	for name, v := range map[string]any{"what": "else", "timezone": "x", "active_alert_mode": "zzz",
		"is_two_factor_authentication_forced": 3, "camera_shares": [][]string{}, "owner_account_id": "o"} {
		post(asu, args{"id": "c", name: v}).want(400, name)
	}
	b.EditUser("ru@c", func(u *model.User) { u.IsEditAccount = true })
	post(ru, args{"id": "c", "name": "By flag"}).want(200)
	post(ru, args{"id": "c", "is_two_factor_authentication_forced": 0}).want(403, "the account superuser's")
}

// Statuses are moved by superusers and account superusers of the parent, and take effect at once.
func TestStatusesOfAccounts(t *testing.T) {
	b := newFixture(t)
	master, asu, ru := b.signIn("asu@m"), b.signIn("asu@c"), b.signIn("ru@c")
	for status, want := range map[string]int{"suspended": 402, "inactive": 460, "pending_validation": 461,
		"active": 200} {
		b.call("POST", "/g/account", master, args{"id": "c", "status": []string{status}}).want(200)
		b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password)).want(want)
		session := 401
		if status == "active" {
			session = 200
		}
		b.call("GET", "/g/aaa/isauth", ru, nil).want(session)
		b.call("GET", "/g/aaa/isauth", master, nil).want(200)
	}
	b.call("POST", "/g/account", master, args{"id": "c", "status": []string{"active"}}).want(200)
	b.call("POST", "/g/account", asu, args{"id": "c", "status": []string{"suspended"}}).want(403)
	b.call("POST", "/g/account", master, args{"id": "m", "status": []string{"suspended"}}).want(403)
}

func TestRevokeAdmins(t *testing.T) {
	b := newFixture(t)
	b.user("asu2@c", func(u *model.User) { u.IsAccountSuperuser = true })
	b.user("edit@c", func(u *model.User) { u.IsEditUsers, u.IsEditAccount = true, true })
	b.call("POST", "/g/account", b.signIn("edit@c"), args{"id": "c", "is_revoke_admins": 1}).want(403)
	b.call("POST", "/g/account", b.signIn("asu@c"), args{"id": "c", "is_revoke_admins": 1}).want(200)
	require.True(t, bool(b.User("asu@c").IsAccountSuperuser), "someone has to be left")
	require.False(t, bool(b.User("asu2@c").IsAccountSuperuser || b.User("edit@c").IsEditUsers ||
		b.User("edit@c").IsEditAccount))
	require.True(t, bool(b.User("asu@o").IsAccountSuperuser))
	b.call("POST", "/g/account", b.signIn("asu@m"), args{"id": "c", "is_revoke_admins": 1}).want(200)
	require.False(t, bool(b.User("asu@c").IsAccountSuperuser))
	var a map[string]any
	b.call("GET", "/g/account", b.signIn("asu@m"), args{"id": "c"}).want(200).into(&a)
	require.NotContains(t, a, "is_revoke_admins", "it stores nothing")
}

func TestDeleteAccount(t *testing.T) {
	b := newFixture(t)
	del := func(key string, a args) reply { return b.call("DELETE", "/g/account", key, a) }
	asu, master, root := b.signIn("asu@c"), b.signIn("asu@m"), b.signIn("root@m")
	del(asu, args{"id": "c"}).want(403, "nobody deletes the account they belong to")
	del(asu, args{"id": "s"}).want(403)
	del(asu, args{"id": "m"}).want(403)
	del(asu, args{"id": "nobody"}).want(404)
	del(asu, nil).want(400)
	del(master, args{"id": "c", "what": "else"}).want(400)
	del("", args{"id": "c"}).want(401)
	del(root, args{"id": "m"}).want(403)
	b.EditAccount("o", func(a *model.Account) { a.IsMaster = true })
	b.EditAccount("s", func(a *model.Account) { a.OwnerAccountID = "o" })
	del(root, args{"id": "o"}).want(400, "it has a sub-account")
	require.Empty(t, del(master, args{"id": "c"}).want(200).body)
	del(master, args{"id": "c"}).want(404)
	b.call("GET", "/g/aaa/isauth", asu, nil).want(401)
	b.call("POST", "/g/aaa/authenticate", "", login("asu@c", password)).want(401)
	// All that went stands in the parent's trail; the account's own is left to superusers.
	var gone []string
	for _, e := range b.trail("m") {
		if e.Action == model.AuditDelete {
			require.Equal(t, e.Kind != model.KindAccount, e.Gone)
			gone = append(gone, e.Kind+" "+e.Name)
		}
	}
	require.Equal(t, "account Account c", gone[0], "the newest")
	require.ElementsMatch(t, []string{"user ru@c", "user asu@c", "camera Yard", "camera Gate", "bridge Bridge"},
		gone[1:])
	require.NotEmpty(t, b.listed(root, args{"account_id": "c"}))
	b.call("GET", "/g/audit/list", master, args{"account_id": "c"}).want(404)
	b.call("GET", "/g/audit/list", root, args{"account_id": "never"}).want(404)
	// An account without a parent is deleted by a superuser, in whose own trail that stands.
	b.EditAccount("s", func(a *model.Account) { a.OwnerAccountID = "m" })
	del(root, args{"id": "o"}).want(200)
	require.Equal(t, []string{"delete", "o"}, []string{string(b.trail("m")[0].Action), b.trail("m")[0].Target})
}

func TestListAccounts(t *testing.T) {
	b := newFixture(t)
	b.EditAccount("c", func(a *model.Account) { a.CustomerID, a.ProductEdition, a.CameraQuantity = "cust", "ed", 5 })
	list := func(key string) (rows [][]any) {
		b.call("GET", "/g/account/list", key, nil).want(200).into(&rows)
		return rows
	}
	ids := func(rows [][]any) (out []any) {
		for _, r := range rows {
			require.Len(t, r, 19)
			out = append(out, r[0])
		}
		return out
	}
	asu := b.signIn("asu@c")
	require.Equal(t, []any{"c"}, ids(list(asu)))
	require.Equal(t, []any{"m", "c", "s"}, ids(list(b.signIn("asu@m"))), "one's own first")
	require.ElementsMatch(t, []any{"m", "c", "s", "o"}, ids(list(b.signIn("root@m"))))
	row := list(asu)[0]
	one := 1.0
	require.Equal(t, []any{"c", "Account c", one, 2.0, 2.0, 0.0, 0.0, one, "ed", one, one, one, one, 3.0, one,
		"20261116170000.000", 0.0, "cust", 0.0}, row)
	b.call("GET", "/g/account/list", asu, args{"what": "else"}).want(400)
	b.call("GET", "/g/account/list", b.signIn("ru@c"), nil).want(403)
	b.call("GET", "/g/account/list", b.signIn("ru@c"), args{"what": "else"}).want(403)
	b.call("GET", "/g/account/list", "", nil).want(401)
}

func TestStatistics(t *testing.T) {
	b := newFixture(t)
	master, asu, ru := b.signIn("asu@m"), b.signIn("asu@c"), b.signIn("ru@c")
	for name, c := range map[string]struct {
		field     string
		ofMaster  int
		ofC, fewO int
	}{
		"sub_accounts": {"account_total", 2, 0, 0}, "users": {"user_total", 3, 2, 2},
		"bridges": {"bridge_total", 0, 1, 1},
		"cameras": {"camera_total", 0, 2, 2}, "online_users": {"online_user_total", 1, 2, 0},
		"online_cameras": {"camera_online_total", 0, 1, 1},
	} {
		path := "/g/account/statistics/" + name
		number := func(key string, a args) int {
			var got map[string]int
			b.call("GET", path, key, a).want(200).into(&got)
			require.Len(t, got, 1)
			return got[c.field]
		}
		require.Equal(t, c.ofMaster, number(master, nil), name)
		require.Equal(t, c.ofC, number(asu, nil), name)
		require.Equal(t, c.ofC, number(ru, nil), name)
		require.Equal(t, c.ofC, number(master, args{"account_id": "c"}), name)
		b.call("GET", path, asu, args{"account_id": "o"}).want(403)
		b.call("GET", path, asu, args{"account_id": "m"}).want(403)
		b.call("GET", path, asu, args{"account_id": "nobody"}).want(404)
		b.call("GET", path, asu, args{"what": "else"}).want(400)
		b.call("GET", path, "", nil).want(401)
	}
	b.Advance(5 * time.Minute)
	var got map[string]int
	b.call("GET", "/g/account/statistics/online_users", asu, nil).want(200).into(&got)
	require.Equal(t, 1, got["online_user_total"], "only who was here lately")
}

func TestSwitchAccount(t *testing.T) {
	b := newFixture(t)
	master := b.signIn("asu@m")
	active := func(key string) string {
		return b.call("GET", "/g/user", key, nil).want(200).field("active_account_id")
	}
	to := func(key, id string) reply {
		return b.call("POST", "/g/aaa/switch_account", key, args{"account_id": id})
	}
	require.Equal(t, "c", to(master, "c").want(200).field("active_account_id"))
	require.Equal(t, "c", active(master))
	var users [][]any
	b.call("GET", "/g/user/list", master, nil).want(200).into(&users)
	require.Len(t, users, 2, "the lists are those of the account that the session is in")
	id := b.call("PUT", "/g/user", master, args{"first_name": "A", "last_name": "B", "email": "made@c"}).want(
		200).field("id")
	require.Equal(t, "c", b.User("made@c").OwnerAccountID, id)
	b.call("POST", "/g/aaa/switch_account", master, nil).want(200)
	require.Equal(t, "m", active(master))
	for _, id := range []string{"o", "nobody"} {
		to(master, id).want(404, id)
	}
	asu := b.signIn("asu@c")
	for _, id := range []string{"m", "s", "o"} {
		to(asu, id).want(404, id)
	}
	to(b.signIn("ru@m"), "c").want(404)
	to("", "c").want(401)
	b.call("POST", "/g/aaa/switch_account", asu, args{"what": "else"}).want(400)
	// Rights that are taken away end the visit.
	to(master, "c").want(200)
	b.EditUser("asu@m", func(u *model.User) { u.IsAccountSuperuser = false })
	b.call("GET", "/g/aaa/isauth", master, nil).want(401)
}

// What is too deep is refused, and the account can be read afterwards by all who need it.
func TestDeepValuesAreRefused(t *testing.T) {
	b := newFixture(t)
	key := b.signIn("asu@c")
	for _, n := range []int{65, 5000, 9990, 9998, 9999, 20000, 150000} {
		deep := strings.Repeat("[", n) + strings.Repeat("]", n)
		for _, encoding := range bodyEncodings {
			if encoding == inJSON || encoding == inNothing {
				r := b.call("POST", "/g/account", key, nil, func(r *http.Request) {
					body := `{"id":"c","map_lines":` + deep + `}`
					r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
				})
				require.Equal(t, 400, r.code, "%d deep in %s", n, encoding)
				continue
			}
			b.callIn(encoding, "POST", "/g/account", key, args{"id": "c", "map_lines": deep}).want(400, n)
		}
	}
	b.call("POST", "/g/account", key, args{"id": "c", "map_lines": map[string]any{"a": []any{1}}}).want(200)
	b.call("GET", "/g/account/list", b.signIn("asu@m"), nil).want(200)
}
