package web

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
)

// changesNothing are endpoints that begin something, or send a letter. What they begin is in the
// trail when it is done.
var changesNothing = []string{"/g/aaa/authenticate", "/g/aaa/two_factor_authenticate",
	"/g/aaa/two_factor_authenticate/update", "/g/aaa/check_pw_reset_token",
	"/g/aaa/forgot_password", "/g/aaa/resend_registration_email", "/g/aaa/resend_user_verification_email"}

// Every endpoint with a body, in every encoding that clients were seen to use, does the same.
// Endpoints without one take their parameters from the query. What changes something leaves an
// entry in the trail. TestMain sees to it that the codes are the interfaceed ones.
func TestEveryEndpointInEveryEncoding(t *testing.T) {
	done := map[string]bool{}
	for _, encoding := range bodyEncodings {
		t.Run(encoding, func(t *testing.T) {
			b := newFixture(t)
			b.SetStatus("s", model.StatusPending)
			b.EditUser("ru@s", func(u *model.User) { u.IsActive, u.IsPending = false, true })
			b.user("wait@c", func(u *model.User) { u.IsActive, u.IsPending = false, true })
			do := func(want int, method, path, key string, a args) reply {
				t.Helper()
				done[method+" "+path] = true
				before := b.entries()
				r := b.callIn(encoding, method, path, key, a).want(want)
				if changes := want < 400 && !slices.Contains(changesNothing, path); changes != (b.entries() > before) {
					t.Errorf("%s: %d entries in the trail", path, b.entries()-before)
				}
				return r
			}
			const aaa = "/g/aaa/"
			token := do(200, "POST", aaa+"authenticate", "", login("asu@c", password)).field("token")
			asu := do(200, "POST", aaa+"authorize", "", args{"token": token}).cookie("auth_key").Value
			master := b.signIn("asu@m")
			do(202, "POST", aaa+"create_account", "",
				args{"email": "e@n.org", "password": fresh, "is_api_access_needed": true})
			l := b.message("e@n.org")
			do(202, "POST", aaa+"resend_registration_email", "", args{"email": "asu@s"})
			do(200, "POST", aaa+"validate_account", "", args{"id": l.AccountID, "token": l.Token})
			do(202, "POST", aaa+"resend_user_verification_email", "", args{"email": "wait@c"})
			do(202, "POST", aaa+"forgot_password", "", args{"email": "ru@c"})
			do(202, "POST", aaa+"check_pw_reset_token", "", args{"token": b.message("ru@c").Token})
			do(200, "POST", aaa+"reset_password", "", args{"token": b.message("ru@c").Token, "password": fresh})
			do(200, "POST", aaa+"change_password", asu, args{"password": fresh, "current_password": password})
			do(200, "POST", aaa+"switch_account", master, args{"account_id": "c"})
			do(400, "POST", aaa+"two_factor_authenticate", "", args{"token": "t"})
			do(400, "POST", aaa+"two_factor_authenticate/update", asu,
				args{"password": "p", "two_factor_authentication_type": "email",
					"update_json": map[string]any{"email": "a@b.c", "sms_phone": "1"}})
			do(400, "POST", aaa+"two_factor_authenticate/verify", asu, args{"two_factor_authentication_code": "12a4"})
			do(503, "POST", "/g/sso", "", nil)
			id := do(200, "PUT", "/g/account", master,
				newSub().with("contact_street", []string{"1", "2"}).with("status", []string{"active"})).field("id")
			require.Equal(t, model.Texts{"1", "2"}, b.Account(id).ContactStreet)
			do(200, "POST", "/g/account", asu, args{"id": "c", "session_duration": 10,
				"map_lines": map[string]any{"a": 1}, "responder_active": true,
				"camera_shares":      [][]string{{"M", "cam1-c", "ru@o"}},
				"camera_share_perms": map[string]any{"cam1-c": map[string]any{"ru@o": []string{"ptz_live"}}}})
			a := b.Account("c")
			require.JSONEq(t, `{"a":1}`, string(a.MapLines))
			require.Equal(t, model.Lists{{"cam1-c", "ru@o,o"}}, a.CameraShares)
			require.Equal(t, []any{10, true}, []any{a.SessionDuration, a.ResponderActive})
			id = do(200, "PUT", "/g/user", asu, newUser("enc@c").with("is_edit_map", 1)).field("id")
			do(200, "POST", "/g/user", asu, args{"id": id, "street": []string{"x"},
				"camera_access": [][]string{{"M", "cam2-c", "RWS"}}, "json": `{"vms":{"notify_levels":[1]}}`,
				"is_ptz_live": 1})
			u := b.User("enc@c")
			require.Equal(t, []any{model.Texts{"x"}, model.Lists{{"cam2-c", "RWS"}}, `{"vms":{"notify_levels":[1]}}`,
				model.Flag(true)}, []any{u.Street, u.CameraAccess, u.JSON, u.IsPTZLive})
			b.EditUser("asu@c", func(u *model.User) { u.SetDevices([]model.Device{{Hash: []byte("device")}}) })
			do(200, "POST", pathClients, asu, args{"client_id": "646576696365", "name": "Tür & Tor"})
			require.Equal(t, "Tür & Tor", b.User("asu@c").Inner.Devices[0].Name)
			do(204, "POST", aaa+"logout", asu, nil)
		})
	}
	for _, e := range Endpoints {
		if e.Method == http.MethodPost || e.Method == http.MethodPut {
			require.True(t, done[e.String()], "%s was not tried in each encoding", e)
		}
	}
}
