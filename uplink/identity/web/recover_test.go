package web

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/session"
)

func prefixes(list ...string) (out []netip.Prefix) {
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

const fresh = "another horse 2"

func TestAnAccountFromApplicationToUse(t *testing.T) {
	b := newFixture(t)
	apply := args{"email": "new@n.org", "password": fresh, "name": "New", "first_name": "N", "last_name": "W",
		"timezone": "UTC", "is_api_access_needed": true}
	r := b.call("POST", "/g/aaa/create_account", "", apply).want(202)
	require.Empty(t, r.body)
	b.call("POST", "/g/aaa/authenticate", "", login("new@n.org", fresh)).want(461)
	l := b.message("new@n.org")
	require.Equal(t, notify.Registration, l.Kind)
	a := b.Account(l.AccountID)
	require.Equal(t, model.Texts{model.StatusPending}, a.Status)
	require.Equal(t, "UTC", a.Timezone)
	require.True(t, a.Inner.APIAccess)

	b.call("POST", "/g/aaa/resend_registration_email", "", args{"email": "new@n.org"}).want(202)
	old, l := l, b.message("new@n.org")
	require.NotEqual(t, old.Token, l.Token)
	l = old // whoever had it sent again made this one no worse
	b.call("POST", "/g/aaa/validate_account", "", args{"id": "c", "token": l.Token}).want(406, "of another account")
	r = b.call("POST", "/g/aaa/validate_account", "", args{"id": l.AccountID, "token": l.Token}).want(200)
	u := b.User("new@n.org")
	require.Equal(t, u.ID, r.field("user_id"))
	b.call("GET", "/g/aaa/isauth", r.cookie("auth_key").Value, nil).want(200, "no new login is needed")
	b.call("POST", "/g/aaa/validate_account", "", args{"id": l.AccountID, "token": l.Token}).want(409)
	b.call("POST", "/g/aaa/resend_registration_email", "", args{"email": "new@n.org"}).want(409)
	b.call("POST", "/g/aaa/authenticate", "", login("new@n.org", fresh)).want(200)
	require.True(t, bool(u.IsAccountSuperuser && u.IsActive))

	b.call("POST", "/g/aaa/create_account", "", apply).want(409)
	b.call("POST", "/g/aaa/create_account", "", apply.with("email", "NEW@n.org").with("realm", "elsewhere")).want(409,
		"409 stands above 406")
	b.call("POST", "/g/aaa/create_account", "", apply.with("email", "x@n.org").with("realm", "elsewhere")).want(406)
	b.call("POST", "/g/aaa/create_account", "", apply.with("email", "x@n.org").with("realm",
		"elsewhere").with("password", "short")).want(406, "406 stands above 400")
	for name, v := range map[string]any{"email": "no address", "password": "short", "timezone": "Mars/Base",
		"is_api_access_needed": "maybe", "what": "else"} {
		b.call("POST", "/g/aaa/create_account", "", apply.with("email", "x@n.org").with(name, v)).want(400, name)
	}
	b.call("POST", "/g/aaa/create_account", "", args{"email": "x@n.org", "password": fresh, "realm": "vms"}).want(202)
}

func TestValidateCodes(t *testing.T) {
	for name, c := range map[string]struct {
		status string
		edit   func(*model.User)
		want   int
	}{
		"suspended": {model.StatusSuspended, nil, 402}, "inactive": {model.StatusInactive, nil, 460},
		"active already":             {model.StatusActive, nil, 409},
		"user disabled":              {model.StatusPending, func(u *model.User) { u.IsActive = false }, 412},
		"active, and user disabled":  {model.StatusActive, func(u *model.User) { u.IsActive = false }, 412},
		"inactive and user disabled": {model.StatusInactive, func(u *model.User) { u.IsActive = false }, 460},
		"pending":                    {model.StatusPending, nil, 200},
	} {
		t.Run(name, func(t *testing.T) {
			b := newFixture(t)
			b.call("POST", "/g/aaa/create_account", "", args{"email": "new@n.org", "password": fresh}).want(202)
			l := b.message("new@n.org")
			b.SetStatus(l.AccountID, c.status)
			if c.edit != nil {
				b.EditUser("new@n.org", c.edit)
			}
			b.call("POST", "/g/aaa/validate_account", "", args{"id": l.AccountID, "token": l.Token}).want(c.want)
		})
	}
	b := newFixture(t)
	b.call("POST", "/g/aaa/validate_account", "", args{"id": "c"}).want(400)
	b.call("POST", "/g/aaa/create_account", "", args{"email": "new@n.org", "password": fresh}).want(202)
	b.Advance(8 * 24 * time.Hour)
	b.call("POST", "/g/aaa/validate_account", "",
		args{"id": b.message("new@n.org").AccountID, "token": b.message("new@n.org").Token}).want(406,
		"a link is good for a week")
}

func TestForgottenPassword(t *testing.T) {
	b := newFixture(t)
	before, other := b.signIn("ru@c"), b.signIn("asu@c")
	b.call("POST", "/g/aaa/forgot_password", "", args{"email": "RU@C"}).want(202)
	l := b.message("ru@c")
	require.Equal(t, notify.PasswordReset, l.Kind)
	b.call("POST", "/g/aaa/check_pw_reset_token", "", args{"token": l.Token}).want(202)
	b.call("POST", "/g/aaa/check_pw_reset_token", "", args{"token": l.Token}).want(202, "looking does not use it up")
	r := b.call("POST", "/g/aaa/reset_password", "", args{"token": l.Token, "password": "short"}).want(400)
	require.Contains(t, string(r.body), "failed_requirements")
	r = b.call("POST", "/g/aaa/reset_password", "",
		args{"token": l.Token, "password": fresh, "accepted_terms_of_service_urls": "https://x/terms"}).want(200)
	require.Equal(t, b.ids["ru@c"], r.field("user_id"))
	b.call("GET", "/g/aaa/isauth", r.cookie("auth_key").Value, nil).want(200, "it creates a session")
	b.call("GET", "/g/aaa/isauth", before, nil).want(401, "and ends the user's others")
	b.call("GET", "/g/aaa/isauth", other, nil).want(200)
	b.call("POST", "/g/aaa/reset_password", "", args{"token": l.Token, "password": fresh}).want(406, "good once")
	b.call("POST", "/g/aaa/reset_password", "", args{"token": l.Token, "password": "short"}).want(406,
		"406 stands above 400")
	b.call("POST", "/g/aaa/check_pw_reset_token", "", args{"token": l.Token}).want(406)
	b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password)).want(401)
	b.call("POST", "/g/aaa/authenticate", "", login("ru@c", fresh)).want(200)
	require.False(t, bool(b.User("ru@c").IsTermsNoncompliant))

	b.call("POST", "/g/aaa/forgot_password", "", args{"email": "ru@c"}).want(202)
	first := b.message("ru@c").Token
	b.call("POST", "/g/aaa/forgot_password", "", args{"email": "ru@c"}).want(202)
	b.call("POST", "/g/aaa/check_pw_reset_token", "", args{"token": first}).want(202, "as good as the newer one")
	b.Advance(2 * time.Hour)
	b.call("POST", "/g/aaa/check_pw_reset_token", "", args{"token": first}).want(406)
	b.call("POST", "/g/aaa/check_pw_reset_token", "", args{"token": b.message("ru@c").Token}).want(406)
}

// The states of account and user, as the three calls of a forgotten password and the two resends
// tell them.
func TestStatesInRecovery(t *testing.T) {
	type codes struct{ forgot, check, reset, registration, verification int }
	for name, c := range map[string]struct {
		status string
		edit   func(*model.User)
		want   codes
	}{
		"all is well": {model.StatusActive, nil, codes{202, 202, 200, 409, 409}},
		"suspended":   {model.StatusSuspended, nil, codes{402, 402, 402, 402, 409}},
		"inactive":    {model.StatusInactive, nil, codes{460, 460, 460, 460, 460}},
		"pending":     {model.StatusPending, nil, codes{461, 461, 461, 202, 461}},
		"user disabled": {model.StatusActive, func(u *model.User) { u.IsActive = false },
			codes{412, 412, 412, 412, 412}},
		"user locked": {model.StatusActive, func(u *model.User) { u.Inner.Locked = monday },
			codes{412, 412, 412, 412, 412}},
		"user pending": {model.StatusActive,
			func(u *model.User) { u.IsActive, u.IsPending = false, true }, codes{462, 202, 200, 409, 202}},
		"suspended and user pending": {model.StatusSuspended,
			func(u *model.User) { u.IsActive, u.IsPending = false, true }, codes{402, 402, 402, 402, 402}},
		"inactive and user locked": {model.StatusInactive, func(u *model.User) { u.Inner.Locked = monday },
			codes{460, 460, 460, 460, 460}},
		"suspended and user is locked": {model.StatusSuspended, func(u *model.User) { u.Inner.Locked = monday },
			codes{412, 412, 412, 412, 412}},
		"pending account, pending user": {model.StatusPending,
			func(u *model.User) { u.IsActive, u.IsPending = false, true }, codes{461, 461, 461, 202, 461}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newFixture(t)
			b.call("POST", "/g/aaa/forgot_password", "", args{"email": "ru@c"}).want(202)
			token := b.message("ru@c").Token
			b.SetStatus("c", c.status)
			if c.edit != nil {
				b.EditUser("ru@c", c.edit)
			}
			b.call("POST", "/g/aaa/resend_registration_email", "", args{"email": "ru@c"}).want(c.want.registration)
			b.call("POST", "/g/aaa/check_pw_reset_token", "", args{"token": token}).want(c.want.check)
			b.call("POST", "/g/aaa/resend_user_verification_email", "", args{"email": "ru@c"}).want(c.want.verification)
			if c.want.verification == 202 {
				token = b.message("ru@c").Token
			}
			if c.want.forgot != 202 {
				b.call("POST", "/g/aaa/forgot_password", "", args{"email": "ru@c"}).want(c.want.forgot)
			}
			b.call("POST", "/g/aaa/reset_password", "", args{"token": token, "password": fresh}).want(c.want.reset)
		})
	}
	b := newFixture(t)
	for _, path := range []string{"/g/aaa/forgot_password", "/g/aaa/resend_registration_email",
		"/g/aaa/resend_user_verification_email", "/g/aaa/check_pw_reset_token", "/g/aaa/reset_password"} {
		b.call("POST", path, "", nil).want(400)
		b.call("POST", path, "", args{"email": "ru@c", "token": "t", "password": fresh, "what": "else"}).want(400)
	}
	b.call("POST", "/g/aaa/forgot_password", "", args{"email": "this is no address"}).want(406)
	b.call("POST", "/g/aaa/resend_registration_email", "", args{"email": "nobody@c"}).want(404)
	b.call("POST", "/g/aaa/resend_user_verification_email", "", args{"email": "nobody@c"}).want(404)
	b.call("POST", "/g/aaa/resend_user_verification_email", "", args{"email": "ru@c", "realm": "elsewhere"}).want(404,
		"found by address and realm")
	b.call("POST", "/g/aaa/resend_user_verification_email", "", args{"email": "ru@c", "realm": "vms"}).want(409)
}

// A user from creation to use.
func TestAUserFromCreationToUse(t *testing.T) {
	b := newFixture(t)
	asu := b.signIn("asu@c")
	id := b.call("PUT", "/g/user", asu, args{"first_name": "A", "last_name": "B", "email": "fresh@c.org"}).want(
		200).field("id")
	b.call("POST", "/g/aaa/authenticate", "", login("fresh@c.org", fresh)).want(462)
	require.Equal(t, notify.UserCreated, b.message("fresh@c.org").Kind)
	r := b.call("POST", "/g/aaa/reset_password", "",
		args{"token": b.message("fresh@c.org").Token, "password": fresh}).want(200)
	require.Equal(t, id, r.field("user_id"))
	b.call("POST", "/g/aaa/authenticate", "", login("fresh@c.org", fresh)).want(200)
	u := b.User("fresh@c.org")
	require.True(t, bool(u.IsActive && !u.IsPending))
}

func TestChangePassword(t *testing.T) {
	b := newFixture(t)
	ru, second, asu := b.signIn("ru@c"), b.signIn("ru@c"), b.signIn("asu@c")
	const path = "/g/aaa/change_password"
	b.call("POST", path, "", args{"password": fresh, "current_password": password}).want(401)
	b.call("POST", path, ru, args{"current_password": password}).want(400)
	b.call("POST", path, ru, args{"password": fresh}).want(400)
	b.call("POST", path, ru, args{"password": "short", "current_password": password}).want(400)
	b.call("POST", path, ru, args{"password": fresh, "current_password": "wrong wrong 1"}).want(406)
	b.call("POST", path, ru, args{"password": "short", "current_password": "wrong wrong 1"}).want(406,
		"406 stands above 400")
	require.Equal(t, b.ids["ru@c"], b.call("POST", path, ru,
		args{"password": fresh, "current_password": password, "id": b.ids["ru@c"]}).want(200).field("id"))
	b.call("GET", "/g/aaa/isauth", ru, nil).want(200)
	b.call("GET", "/g/aaa/isauth", second, nil).want(401, "the user's other sessions end")
	b.call("POST", "/g/aaa/authenticate", "", login("ru@c", fresh)).want(200)

	b.call("POST", path, asu, args{"password": password, "id": b.ids["ru@c"]}).want(200,
		"of a user whom the caller manages")
	b.call("GET", "/g/aaa/isauth", ru, nil).want(401)
	b.call("POST", "/g/aaa/authenticate", "", login("ru@c", password)).want(200)
	ru = b.signIn("ru@c")
	for who, id := range map[string]string{asu: b.ids["asu@m"], ru: b.ids["asu@c"], b.signIn("asu@o"): b.ids["ru@c"],
		b.signIn("asu@m"): b.ids["root@m"], asu + "": "nobody"} {
		b.call("POST", path, who, args{"password": fresh, "id": id}).want(404)
	}
	b.call("POST", path, asu, args{"password": "short", "id": "nobody"}).want(404, "404 stands above 400")
	b.call("POST", path, asu, args{"password": "short", "id": b.ids["ru@c"]}).want(400)
	b.EditUser("ru@c", func(u *model.User) { u.IsEditUsers = true })
	b.user("ru2@c", nil)
	b.call("POST", path, b.signIn("ru@c"), args{"password": fresh, "id": b.ids["ru2@c"]}).want(404,
		"only superusers set others' passwords")
	b.call("POST", path, b.signIn("asu@m"), args{"password": fresh, "id": b.ids["ru2@c"]}).want(200)
}

// Two who reset with one link at once: one of them succeeds.
func TestALinkIsGoodOnce(t *testing.T) {
	b := newFixture(t)
	b.call("POST", "/g/aaa/forgot_password", "", args{"email": "ru@c"}).want(202)
	token := b.message("ru@c").Token
	results := make(chan error, 6)
	for range 6 {
		go func() {
			_, _, err := b.sessions.Reset(t.Context(), token, fresh, nil, session.Origin{})
			results <- err
		}()
	}
	good := 0
	for range 6 {
		if err := <-results; err == nil {
			good++
		}
	}
	require.Equal(t, 1, good)
	_, err := b.sessions.Password(t.Context(), session.Login{Email: "ru@c", Password: fresh})
	require.NoError(t, err)
}

// Whoever asks for links in somebody's name fills no mailbox, and makes none of the links worthless
// that the user has; a password that is set makes all of them so.
func TestStrangersSpoilNoLinks(t *testing.T) {
	b := newFixture(t)
	b.user("wait@c", func(u *model.User) { u.IsActive, u.IsPending = false, true })
	b.call("POST", "/g/aaa/create_account", "", args{"email": "new@n.org", "password": fresh}).want(202)
	for email, path := range map[string]string{"ru@c": "forgot_password", "wait@c": "resend_user_verification_email",
		"new@n.org": "resend_registration_email"} {
		b.call("POST", "/g/aaa/"+path, "", args{"email": email}).want(202)
		mine := b.message(email)
		for range 50 {
			b.call("POST", "/g/aaa/"+path, "", args{"email": email}).want(202)
		}
		require.Equal(t, 5, b.messagesTo(email), email)
		other := b.message(email).Token
		require.NotEqual(t, mine.Token, other)
		if email == "new@n.org" {
			b.call("POST", "/g/aaa/validate_account", "", args{"id": mine.AccountID, "token": mine.Token}).want(200)
			continue
		}
		b.call("POST", "/g/aaa/reset_password", "", args{"token": mine.Token, "password": fresh}).want(200)
		b.call("POST", "/g/aaa/reset_password", "", args{"token": other, "password": fresh}).want(406)
	}
	b.call("POST", "/g/aaa/forgot_password", "", args{"email": "ru@c"}).want(202)
	require.Equal(t, 6, b.messagesTo("ru@c"), "after that there is room again")
}
