package web

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
)

func newUser(email string) args {
	return args{"first_name": "F", "last_name": "L", "email": email}
}

func TestGetUser(t *testing.T) {
	b := newFixture(t)
	asu, ru, master := b.signIn("asu@c"), b.signIn("ru@c"), b.signIn("asu@m")
	get := func(key, id string) reply { return b.call("GET", "/g/user", key, args{"id": id}) }
	var fields map[string]json.RawMessage
	b.call("GET", "/g/user", ru, nil).want(200).into(&fields)
	require.Len(t, fields, len(model.UserFields), "every field of the interface")
	require.JSONEq(t, `"`+b.ids["ru@c"]+`"`, string(fields["id"]), "without an id it is the caller")
	get(ru, b.ids["ru@c"]).want(200)
	get(asu, b.ids["ru@c"]).want(200)
	get(master, b.ids["ru@c"]).want(200)
	get(ru, b.ids["asu@c"]).want(403)
	get(asu, b.ids["asu@o"]).want(403)
	get(asu, b.ids["asu@m"]).want(403, "no rights in a parent account")
	get(asu, "nobody").want(404)
	get("", b.ids["ru@c"]).want(401)
	b.call("GET", "/g/user", ru, args{"what": "else"}).want(400)
	b.call("GET", "/g/user", ru, args{"id": b.ids["asu@c"], "what": "else"}).want(403)
	b.call("GET", "/g/user", ru, args{"id": "nobody", "what": "else"}).want(404)
}

func TestPutUser(t *testing.T) {
	b := newFixture(t)
	asu, ru := b.signIn("asu@c"), b.signIn("ru@c")
	put := func(key string, a args) reply { return b.call("PUT", "/g/user", key, a) }
	id := put(asu, newUser("one@c").with("sms_phone", "+15125550100").with("is_user_create_layout",
		1).with("is_edit_map", 1)).want(200).field("id")
	u := b.User("one@c")
	require.Equal(t, id, u.ID)
	require.True(t, bool(u.IsPending && !u.IsActive && u.IsLiveVideo && u.IsRecordedVideo && u.IsExportVideo &&
		u.IsPreviewVideo && u.IsCreateLayout && u.IsEditMap))
	require.Equal(t, "+15125550100", u.SMSPhone)
	require.Equal(t, []any{"en-us", "US/Pacific", "{}"}, []any{u.Language, u.Timezone, u.JSON})
	require.Equal(t, model.AuditCreate, b.trail("c")[0].Action)
	put(asu, newUser("admin@c").with("is_account_superuser", 1)).want(200)
	require.True(t, bool(b.User("admin@c").IsAccountSuperuser))
	put(asu, newUser("cam@c").with("camera_access", [][]string{{"M", "cam1-c", "RW"}})).want(200)
	require.Equal(t, model.Lists{{"cam1-c", "RW"}}, b.User("cam@c").CameraAccess)

	put(asu, newUser("one@c")).want(409)
	put(asu, newUser("ASU@O")).want(409, "addresses are taken whoever has them")
	put(ru, newUser("asu@o")).want(403, "who may not is not told of an address")
	put(ru, newUser("two@c")).want(403)
	put(asu, newUser("two@c").with("is_superuser", 1)).want(403)
	put(asu, newUser("two@c").with("is_staff", 1)).want(403)
	put(asu, newUser("two@c").with("uid", "x")).want(403)
	put(b.signIn("root@m"), newUser("staff@m").with("is_staff", 1)).want(200)
	put("", newUser("two@c")).want(401)
	for name, v := range map[string]any{"first_name": "", "email": "none", "what": "else", "sms_phone": "call me",
		"id": "x", "is_active": 1, "camera_access": [][]string{{"M", "cam1-o", "R"}}} {
		put(asu, newUser("two@c").with(name, v)).want(400, name)
	}
	for _, name := range []string{"first_name", "last_name", "email"} {
		a := newUser("two@c")
		delete(a, name)
		put(asu, a).want(400, name)
	}
	b.EditUser("ru@c", func(u *model.User) { u.IsEditUsers = true })
	put(ru, newUser("two@c")).want(200, "by is_edit_users")
	put(ru, newUser("three@c").with("is_account_superuser", 1)).want(403)
	put(ru, newUser("three@c").with("is_edit_account", 1)).want(403, "nobody gives what they do not have")
	put(ru, newUser("three@c").with("is_edit_users", 1)).want(200)
}

func TestPostUser(t *testing.T) {
	b := newFixture(t)
	asu, ru, root := b.signIn("asu@c"), b.signIn("ru@c"), b.signIn("root@m")
	post := func(key string, a args) reply { return b.call("POST", "/g/user", key, a) }
	target := b.ids["ru@c"]
	every := args{"id": target}
	for _, f := range model.UserFields {
		if f.Use&model.UseUpdate != 0 && f.Grants {
			every[f.Name] = 1
		}
	}
	for name, v := range (args{"first_name": "N", "last_name": "M", "phone": "1", "mobile_phone": "2",
		"street": []string{"s"}, "city": "c", "state": "st", "country": "US", "postal_code": "p",
		"language": "ja", "timezone": "UTC", "alternate_email": "alt@c.org", "is_sms_include_picture": 1,
		"json":          `{"vms":{"motion_boxes":true,"employee_id":"7"}}`,
		"camera_access": [][]string{{"M", "cam1-c", "RWS"}, {"M", "cam2-c", "r"}}, "is_notify_enable": 1,
		"notify_period": []string{"0-0000-2359"}, "notify_rule": []string{"one-email-0"},
		"access_period": []string{"0-0000-2400"}, "is_view_audit_trail": 1, "email": "ru@c", "sms_phone": "",
		"is_two_factor_authentication_enabled": 0}) {
		every[name] = v
	}
	require.Equal(t, target, post(asu, every).want(200).field("id"))
	u := b.User("ru@c")
	require.Equal(t, []any{"N", "ja", "UTC", "7"}, []any{u.FirstName, u.Language, u.Timezone, u.EmployeeID()})
	require.Equal(t, model.Lists{{"cam1-c", "RWS"}, {"cam2-c", "r"}}, u.CameraAccess)
	require.True(t, bool(u.IsPTZLive && u.IsEditAccount && u.IsViewAuditTrail))
	require.NotContains(t, b.trail("c")[0].Fields, "email", "what stayed is not written down")
	post(asu, args{"id": target, "camera_access": [][]string{{"D", "cam1-c"}}}).want(200)
	require.Equal(t, model.Lists{{"cam2-c", "r"}}, b.User("ru@c").CameraAccess)
	post(asu, args{"id": target, "is_live_video": 0, "is_view_preview_video": 0}).want(200)
	require.True(t, bool(b.User("ru@c").IsPreviewVideo), "previews come with the other rights")

	// The second factor's data is the user's own, and changed elsewhere.
	for name, v := range map[string]any{"email": "other@c", "sms_phone": "+15125550100",
		"is_two_factor_authentication_enabled": 1} {
		post(asu, args{"id": target, name: v}).want(403, name)
		post(ru, args{"id": target, name: v}).want(403, name)
		post(root, args{"id": target, name: v}).want(403, name)
	}
	for name, v := range map[string]any{"is_superuser": 1, "is_staff": 1, "uid": "x"} {
		post(asu, args{"id": target, name: v}).want(403, name)
	}
	b.user("plain@c", nil)
	plain := b.signIn("plain@c")
	self := b.ids["plain@c"]
	post(plain, args{"id": self, "first_name": "Me", "language": "ja", "json": `{"vms":{"show_AMPM":true}}`}).want(
		200, "one's own profile")
	for name, v := range map[string]any{"is_ptz_live": 1, "is_account_superuser": 1,
		"camera_access": [][]string{{"M", "cam1-c", "R"}}, "access_period": []string{"0-0000-2400"},
		"json": `{"vms":{"employee_id":"9"}}`, "is_view_audit_trail": 1, "is_live_video": 0} {
		post(plain, args{"id": self, name: v}).want(403, name)
	}
	post(plain, args{"id": target, "first_name": "x"}).want(403)
	post(plain, args{"id": target, "what": "else"}).want(403)
	post(plain, args{"id": "nobody", "what": "else"}).want(404)
	post(asu, args{"id": b.ids["asu@o"], "first_name": "x"}).want(403)
	post(asu, args{"id": target, "camera_access": [][]string{{"M", "cam1-o", "R"}}}).want(404,
		"another account's camera")
	post("", args{"id": target}).want(401)
	post(asu, args{"first_name": "x"}).want(400)
	for name, v := range map[string]any{"what": "else", "timezone": "x", "is_active": 0, "last_login": "x",
		"owner_account_id": "o"} {
		post(asu, args{"id": target, name: v}).want(400, name)
	}
	var whole args
	b.call("GET", "/g/user", asu, args{"id": target}).want(200).into(&whole)
	require.NotEmpty(t, whole["camera_access"])
	post(asu, whole).want(200, "what a client read it may send back")
	require.Len(t, b.User("ru@c").CameraAccess, len(whole["camera_access"].([]any)))
	own := b.session("ru@c")
	b.call("GET", "/g/user", own, nil).want(200).into(&whole)
	post(own, whole.with("city", "Ghent")).want(200, "and users their own, cameras and all")
	require.Equal(t, "Ghent", b.User("ru@c").City)
	post(own, whole.with("user_id", target)).want(200, "as authorize gives it")
	post(own, whole.with("user_id", b.ids["asu@c"])).want(400)
}

// A master's users get the devices of its sub-accounts.
func TestCameraAccessInSubAccounts(t *testing.T) {
	b := newFixture(t)
	master := b.signIn("asu@m")
	b.call("POST", "/g/user", master, args{"id": b.ids["ru@m"],
		"camera_access": [][]string{{"M", "cam1-c", "R"}}}).want(200)
	b.call("POST", "/g/user", master, args{"id": b.ids["ru@m"],
		"camera_access": [][]string{{"M", "cam1-o", "R"}}}).want(404)
}

func TestDeleteUser(t *testing.T) {
	b := newFixture(t)
	asu, ru := b.signIn("asu@c"), b.signIn("ru@c")
	del := func(key string, a args) reply { return b.call("DELETE", "/g/user", key, a) }
	del(ru, args{"id": b.ids["asu@c"]}).want(403)
	del(ru, args{"id": b.ids["ru@c"]}).want(403, "not oneself")
	del(asu, args{"id": b.ids["asu@o"]}).want(403)
	del(asu, args{"id": b.ids["asu@m"]}).want(403)
	del(asu, nil).want(400)
	del(asu, args{"id": b.ids["ru@c"], "what": "else"}).want(400)
	del(asu, args{"id": "nobody"}).want(404)
	del("", args{"id": b.ids["ru@c"]}).want(401)
	del(b.signIn("asu@m"), args{"id": b.ids["root@m"]}).want(403, "a superuser is not an account superuser's to delete")
	require.Empty(t, del(asu, args{"id": b.ids["ru@c"]}).want(200).body)
	b.call("GET", "/g/aaa/isauth", ru, nil).want(401)
	require.Equal(t, model.AuditDelete, b.trail("c")[0].Action)
	b.call("PUT", "/g/user", asu, newUser("ru@c")).want(200, "the address is free again")
}

func TestListUsers(t *testing.T) {
	b := newFixture(t)
	list := func(key string, a args) (rows [][]any) {
		b.call("GET", "/g/user/list", key, a).want(200).into(&rows)
		return rows
	}
	asu, master := b.signIn("asu@c"), b.signIn("asu@m")
	rows := list(asu, nil)
	require.Len(t, rows, 2)
	if rows[0][3] != "asu@c" {
		rows[0], rows[1] = rows[1], rows[0] // both were made in one moment of the test's clock
	}
	require.Equal(t, []any{b.ids["asu@c"], "First", "asu", "asu@c"}, rows[0][:4])
	require.Equal(t, []any{"account_superuser", "active", "live_video", "export_video", "recorded_video",
		"view_preview_video", "terms_noncompliant"}, rows[0][4])
	require.Equal(t, "20261116170000.000", rows[0][5])
	require.Len(t, rows[0], 6)
	require.Empty(t, rows[1][5], "never signed in")
	require.Len(t, list(asu, args{"email": "RU@c"}), 1)
	require.Len(t, list(asu, args{"email": "nobody@c"}), 0)
	require.Len(t, list(asu, args{"email": "asu@o"}), 0)
	require.Len(t, list(asu, args{"email": "asu@m"}), 0)
	require.Len(t, list(master, args{"email": "ru@c"}), 1, "a master account's sub-accounts are searched")
	require.Len(t, list(master, args{"email": "ru@o"}), 0)
	require.Equal(t, "[]", string(b.call("GET", "/g/user/list", asu,
		args{"email": "nobody@c", "cache": "1"}).want(200).body))
	b.call("GET", "/g/user/list", b.signIn("ru@c"), nil).want(403)
	b.call("GET", "/g/user/list", "", nil).want(401)
}

// The seven rules through HTTP: every caller kind on every target, place and operation, against the
// table of the rules.
func TestUserRulesOverHTTP(t *testing.T) {
	b := newFixture(t)
	flags := func(set func(*model.User)) func(*model.User) { return set }
	callers := map[string]func(*model.User){
		"asu": flags(func(u *model.User) { u.IsAccountSuperuser = true }), "plain": nil,
		"all":    flags(func(u *model.User) { u.IsEditAllUsers = true }),
		"users":  flags(func(u *model.User) { u.IsEditUsers = true }),
		"admins": flags(func(u *model.User) { u.IsEditAdminUsers = true }),
	}
	// kind of caller → account of caller → account of target → kind of target: allowed
	allowed := map[string]bool{}
	for _, k := range []string{"asu", "ru"} {
		for _, at := range []string{"m>m", "m>c", "c>c"} {
			allowed["asu "+at+" "+k] = true
		}
	}
	for _, yes := range []string{"all m>m ru", "users c>c ru", "users m>c ru", "admins m>c ru", "admins m>c asu"} {
		allowed[yes] = true
	}
	for name, set := range callers {
		for _, home := range []string{"m", "c"} {
			who := fmt.Sprintf("%s-caller@%s", name, home)
			b.user(who, set)
			key := b.signIn(who)
			for _, at := range []string{"m", "c", "s", "o"} {
				for _, kind := range []string{"asu", "ru"} {
					target := fmt.Sprintf("t-%s-%s-%s-%s@%s", name, home, at, kind, at)
					u := b.user(target, func(u *model.User) { u.IsAccountSuperuser = kind == "asu" })
					want, what := 403, fmt.Sprintf("%s %s>%s %s", name, home, at, kind)
					if allowed[what] || at == "s" && home == "m" && allowed[fmt.Sprintf("%s m>c %s", name, kind)] {
						want = 200
					}
					b.call("GET", "/g/user", key, args{"id": u.ID}).want(want, what)
					b.call("POST", "/g/user", key, args{"id": u.ID, "phone": "123"}).want(want, what)
					b.call("DELETE", "/g/user", key, args{"id": u.ID}).want(want, what)
				}
			}
		}
	}
}
