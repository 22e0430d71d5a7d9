package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

// attack is what someone of account o tries with an endpoint against account c.
type attack struct {
	name string
	args func(b *fixture) args
	want int // the answer
}

// none is for endpoints that take nothing by which another account could be named: the answer is
// about the caller alone.
var none = []attack{{"nothing to name another account with", func(*fixture) args { return nil }, 200}}

// attacks has an entry for every endpoint: what a user of another account could try. A new endpoint
// without one fails the test.
var attacks = map[string][]attack{
	"POST /g/aaa/authenticate": {{"another's name with one's own password",
		func(*fixture) args { return args{"username": "ru@c", "password": "the password of o"} }, 401}},
	"POST /g/aaa/authorize": {{"a session's key as token",
		func(b *fixture) args { return args{"token": b.signIn("ru@c")} }, 401}},
	"POST /g/aaa/two_factor_authenticate": {{"a guessed token", func(*fixture) args {
		return args{"token": "guess", "two_factor_authentication_type": "email"}
	}, -1}},
	"POST /g/aaa/two_factor_authenticate/update": {{"another user's id", func(b *fixture) args {
		return args{"two_factor_authentication_type": "email", "password": password,
			"update_json": map[string]any{"email": "evil@o"}, "id": b.ids["ru@c"]}
	}, 400}},
	"POST /g/aaa/two_factor_authenticate/verify": {{"another user's id",
		func(b *fixture) args { return args{"two_factor_authentication_code": "0000", "id": b.ids["ru@c"]} }, 400}},
	"POST /g/aaa/create_account": {{"another's address",
		func(*fixture) args { return args{"email": "ru@c", "password": fresh} }, 409}},
	"POST /g/aaa/validate_account": {{"a guessed token",
		func(*fixture) args { return args{"id": "c", "token": "guess"} }, 406}},
	"POST /g/aaa/forgot_password": {{"another's address: only its owner gets the link",
		func(*fixture) args { return args{"email": "ru@c"} }, 202}},
	"POST /g/aaa/check_pw_reset_token": {{"a guessed token",
		func(*fixture) args { return args{"token": "guess"} }, 406}},
	"POST /g/aaa/reset_password": {{"a guessed token",
		func(*fixture) args { return args{"token": "guess", "password": fresh} }, 406}},
	"POST /g/aaa/resend_registration_email": {{"another's address",
		func(*fixture) args { return args{"email": "ru@c"} }, 409}},
	"POST /g/aaa/resend_user_verification_email": {{"another's address",
		func(*fixture) args { return args{"email": "ru@c"} }, 409}},
	"POST /g/aaa/change_password": {{"another's id",
		func(b *fixture) args { return args{"id": b.ids["ru@c"], "password": fresh} },
		404}, {"with one's own current password", func(b *fixture) args {
		return args{"id": b.ids["asu@c"], "password": fresh, "current_password": password}
	}, 404}},
	"POST /g/aaa/switch_account": {{"another account", func(*fixture) args { return args{"account_id": "c"} }, 404},
		{"the master", func(*fixture) args { return args{"account_id": "m"} }, 404}},
	"POST /g/sso":       {{"no assertion", func(*fixture) args { return nil }, -1}},
	"GET /g/aaa/isauth": none,
	"POST /g/aaa/logout": {{"another's session in an argument",
		func(b *fixture) args { return args{"auth_key": "guess"} }, 400}},
	"GET /g/aaa/logout": {{"another's session in an argument",
		func(b *fixture) args { return args{"auth_key": "guess"} }, 400}},
	"GET /g/account": {{"another's id", func(*fixture) args { return args{"id": "c"} }, 403}},
	"PUT /g/account": {{"below another account",
		func(*fixture) args { return newSub().with("owner_account_id", "c") }, 403}, {"below the master",
		func(*fixture) args { return newSub().with("owner_account_id", "m") }, 403}},
	"POST /g/account": {{"another's id", func(*fixture) args { return args{"id": "c", "name": "taken over"} }, 403},
		{"another's camera, shared to oneself", func(*fixture) args {
			return args{"id": "o", "camera_shares": [][]string{{"M", "cam1-c", "asu@o"}}, "camera_share_perms": args{}}
		}, 404}, {"as its parent", func(*fixture) args { return args{"id": "c", "owner_account_id": "o"} }, 403}},
	"DELETE /g/account":   {{"another's id", func(*fixture) args { return args{"id": "c"} }, 403}},
	"GET /g/account/list": none,
	"GET /g/account/statistics/sub_accounts": {{"another's id",
		func(*fixture) args { return args{"account_id": "c"} }, 403}},
	"GET /g/account/statistics/users": {{"another's id",
		func(*fixture) args { return args{"account_id": "c"} }, 403}},
	"GET /g/account/statistics/bridges": {{"another's id",
		func(*fixture) args { return args{"account_id": "c"} }, 403}},
	"GET /g/account/statistics/cameras": {{"another's id",
		func(*fixture) args { return args{"account_id": "c"} }, 403}},
	"GET /g/account/statistics/online_users": {{"another's id",
		func(*fixture) args { return args{"account_id": "c"} }, 403}},
	"GET /g/account/statistics/online_cameras": {{"another's id",
		func(*fixture) args { return args{"account_id": "c"} }, 403}},
	"GET /g/user": {{"another's id",
		func(b *fixture) args { return args{"id": b.ids["ru@c"]} }, 403}},
	"PUT /g/user": {{"another account",
		func(*fixture) args { return newUser("x@o").with("owner_account_id", "c") }, 400}, {"another's camera",
		func(*fixture) args { return newUser("x@o").with("camera_access", [][]string{{"M", "cam1-c", "RWS"}}) },
		400}, {"another's address", func(*fixture) args { return newUser("ru@c") }, 409}},
	"POST /g/user": {{"another's id", func(b *fixture) args {
		return args{"id": b.ids["ru@c"],
			"first_name": "taken over"}
	}, 403}, {"another's camera", func(b *fixture) args {
		return args{"id": b.ids["ru@o"], "camera_access": [][]string{{"M", "cam1-c", "R"}}}
	}, 404}, {"a move", func(b *fixture) args {
		return args{"id": b.ids["asu@o"],
			"owner_account_id": "c"}
	}, 400}, {"more than oneself is", func(b *fixture) args {
		return args{"id": b.ids["asu@o"],
			"is_superuser": 1}
	}, 403}},
	"DELETE /g/user": {{"another's id",
		func(b *fixture) args { return args{"id": b.ids["ru@c"]} }, 403}},
	"GET /g/user/list": {{"another's address",
		func(*fixture) args { return args{"email": "ru@c"} }, 200}},
	"GET /g/user/authenticated_clients": {{"another's id",
		func(b *fixture) args { return args{"id": b.ids["ru@c"]} }, 404}},
	"POST /g/user/authenticated_clients": {{"another's id",
		func(b *fixture) args { return args{"id": b.ids["ru@c"], "client_id": "x", "name": "y"} }, 404}},
	"DELETE /g/user/authenticated_clients": {{"another's id",
		func(b *fixture) args { return args{"id": b.ids["ru@c"], "client_id": "x"} }, 404}},
	"GET /g/user/sessions": {{"another's id",
		func(b *fixture) args { return args{"id": b.ids["ru@c"]} }, 404}},
	"DELETE /g/user/sessions": {{"another's id",
		func(b *fixture) args { return args{"id": b.ids["ru@c"], "session_id": "x"} }, 404}},
	"GET /g/device": {{"another's camera", func(*fixture) args { return args{"id": "cam1-c"} },
		404}, {"another's bridge", func(*fixture) args { return args{"id": "bridge-c"} }, 404}},
	"GET /g/audit/list": {{"another's id", func(*fixture) args { return args{"account_id": "c"} },
		403}, {"the master's", func(*fixture) args { return args{"account_id": "m"} }, 403}},
	"GET /g/device/list": {{"another's camera", func(*fixture) args { return args{"e": "cam1-c"} },
		200}},
}

// snapshot is all that is stored of an account but for when, how often and where people signed in.
func (b *fixture) snapshot(id string) string {
	b.t.Helper()
	var out []any
	require.NoError(b.t, b.Store.View(func(tx *store.Tx) error {
		a, err := tx.Account(id)
		if err != nil {
			return err
		}
		users, err := tx.UsersOf(id)
		if err != nil {
			return err
		}
		out = append(out, a, a.Inner)
		for _, u := range users {
			u.LastLogin, u.Inner.MarkKey = "", nil
			out = append(out, u, u.Inner)
		}
		children, err := tx.Children(id)
		out = append(out, children)
		return err
	}))
	raw, err := json.Marshal(out)
	require.NoError(b.t, err)
	return string(raw)
}

// For each endpoint: whatever anyone of account o asks for, they neither see nor change anything of
// account c. They are an account superuser and a user with every flag, from a plain account and
// from a master.
func TestAnotherAccountIsOutOfReach(t *testing.T) {
	for name, who := range map[string]string{"account superuser": "asu@o", "user with all flags": "flags@o",
		"account superuser of another master": "asu@o+master"} {
		t.Run(name, func(t *testing.T) {
			b := newFixture(t)
			b.user("flags@o", func(u *model.User) {
				u.IsEditAccount, u.IsEditUsers, u.IsEditAdminUsers, u.IsEditAllUsers, u.IsEditAllAndAdd,
					u.IsEditSharing, u.IsViewAuditTrail = true, true, true, true, true, true, true
			})
			email, master, _ := strings.Cut(who, "+")
			if master != "" {
				b.EditAccount("o", func(a *model.Account) { a.IsMaster = true })
			}
			key, guests := b.signIn(email), b.signIn("ru@c")
			before, parent := b.snapshot("c"), b.snapshot("m")
			private := []string{"cameras of c", "Account c", "cam1-c", "cam2-c", "bridge-c", b.ids["ru@c"],
				b.ids["asu@c"], "Account m", b.ids["asu@m"]}
			for _, e := range Endpoints {
				list, ok := attacks[e.String()]
				if !ok {
					t.Errorf("%s: nobody has tried this against another account", e)
					continue
				}
				for _, a := range list {
					asked := a.args(b)
					r := b.call(e.Method, e.Path, key, asked)
					if a.want >= 0 && name == "account superuser" {
						require.Equal(t, a.want, r.code, "%s, %s: %s", e, a.name, r.body)
					}
					if a.want != 200 {
						require.False(t, r.code == 200 || r.code == 204, "%s, %s: %d %s", e, a.name, r.code, r.body)
					}
					for _, text := range private {
						require.NotContains(t, string(r.body), text, "%s, %s", e, a.name)
					}
					require.Equal(t, before, b.snapshot("c"), "%s, %s", e, a.name)
					require.Equal(t, parent, b.snapshot("m"), "%s, %s", e, a.name)
					require.Equal(t, 200, b.call("GET", "/g/aaa/isauth", key, nil).code, "%s, %s", e, a.name)
				}
			}
			require.Equal(t, 200, b.call("GET", "/g/aaa/isauth", guests, nil).code)
			require.Equal(t, 1, b.messagesTo("ru@c"), "the link goes to its owner")
		})
	}
}

// Nobody without a session gets anything from an endpoint that needs one, whatever the parameters
// are.
func TestNothingWithoutASession(t *testing.T) {
	b := newFixture(t)
	before := b.snapshot("c")
	for _, e := range Endpoints {
		if !e.session {
			continue
		}
		for _, a := range attacks[e.String()] {
			for _, key := range []string{"", "c000~" + strings.Repeat("a", 32), "\x7f", b.ids["asu@c"]} {
				b.call(e.Method, e.Path, "", a.args(b).with("A", key)).want(401, "%s %s", e, a.name)
			}
		}
	}
	require.Equal(t, before, b.snapshot("c"))
}

// An address that a user was given, or gave themselves, is not theirs until they have read its
// mail: what another account shares with whoever has it, or names as its responder, is not theirs
// either.
func TestSquattersGetNoShares(t *testing.T) {
	b := newFixture(t, withFactor(nil))
	asu, theirs := b.signIn("asu@o"), b.signIn("asu@c")
	const guest = "guest@corp.org"
	share := func() {
		b.call("POST", "/g/account", theirs, args{"id": "c", "camera_shares": [][]string{{"M", "cam1-c", guest}},
			"camera_share_perms": map[string]any{},
			"first_responders":   [][]string{{guest, "G", "U", "Fire", ""}}, "responder_active": true,
			"responder_cameras": []string{"cam2-c"}}).want(200)
	}
	devices := func(key string) string {
		return string(b.call("GET", "/g/device/list", key, nil).want(200).body)
	}
	share()
	id := b.call("PUT", "/g/user", asu, newUser(guest)).want(200).field("id")
	b.call("POST", "/g/aaa/change_password", asu, args{"id": id, "password": password}).want(200)
	key := b.signIn(guest)
	require.NotContains(t, devices(key), "-c", "an administrator's word")
	share()
	require.NotContains(t, devices(key), "-c", "shared when there was such a user")

	// By the mail that the owner got it is.
	b.call("POST", "/g/aaa/forgot_password", "", args{"email": guest}).want(202)
	key = b.call("POST", "/g/aaa/reset_password", "",
		args{"token": b.message(guest).Token, "password": fresh}).want(200).cookie("auth_key").Value
	require.Contains(t, devices(key), "cam1-c")
	require.Contains(t, devices(key), "cam2-c")

	// And one's own change of address proves nothing about the new one: the code goes to the old.
	b.call("DELETE", "/g/user", asu, args{"id": id}).want(200)
	ru := b.signIn("ru@o")
	b.call("POST", aaaUpdate, ru, args{typeOfCode: "email", "password": password,
		"update_json": map[string]any{"email": guest}}).want(200)
	b.call("POST", aaaVerify, ru, args{codeArg: b.message("ru@o").Code}).want(200)
	require.Equal(t, guest, b.call("GET", "/g/user", ru, nil).want(200).field("email"))
	require.NotContains(t, devices(ru), "-c")
}
