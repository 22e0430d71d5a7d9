package web

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
)

// authenticate is POST /g/aaa/authenticate.
func (c *call) authenticate() (any, error) {
	in, err := c.text([]string{"username", "password"})
	if err != nil {
		return nil, err
	}
	t, err := c.sessions.Authenticate(c.r.Context(),
		session.Login{Email: in["username"], Password: in["password"], Device: c.set.Device(), From: c.from},
		c.endpoint.refusals()...)
	if err != nil {
		return nil, err
	}
	c.right = t.Factors == nil // else codes could be had without end
	return t, nil
}

// authorize is POST /g/aaa/authorize. A code that does not have four digits is a wrong one, not a
// wrong argument: it counts.
func (c *call) authorize() (any, error) {
	in, err := c.text([]string{"token"}, "two_factor_authentication_code")
	if err != nil {
		return nil, err
	}
	o, err := c.sessions.Authorize(c.r.Context(),
		session.Claim{Token: unformed(in["token"]), Code: in["two_factor_authentication_code"],
			Device: c.set.Device(), Mark: c.set.Mark(),
			From: c.from, Agent: c.r.UserAgent()})
	if err != nil {
		return nil, err
	}
	c.right = true
	c.signedIn(o)
	return struct {
		model.User
		UserID string `json:"user_id"`
	}{o.User.Shown(c.store.Now(), o.Home, o.Session.ActiveAccount, c.sessions.Cluster()), o.User.ID}, nil
}

// unformed is the token of authenticate as it was given: it is base64, and a plus of it that a
// client put into a form as it was has arrived as a space.
func unformed(token string) string { return strings.ReplaceAll(token, " ", "+") }

// isAuth is GET /g/aaa/isauth.
func (c *call) isAuth() (any, error) { return true, nil }

// logout is POST /g/aaa/logout.
func (c *call) logout() (any, error) {
	if err := c.expect(); err != nil {
		return nil, err
	}
	if err := c.sessions.End(c.caller); err != nil {
		return nil, err
	}
	c.signedOut()
	return nil, nil
}

// switchAccount is POST /g/aaa/switch_account. The body of the answer is not documented; a client
// reads it as JSON.
func (c *call) switchAccount() (any, error) {
	in, err := c.text(nil, "account_id")
	if err != nil {
		return nil, err
	}
	me, err := c.sessions.Switch(c.caller, in["account_id"])
	return map[string]string{"id": me.Active.ID, "active_account_id": me.Active.ID}, err
}

// headerSSO carries the identity provider's message, as the parameter of the same name does; the
// interface does not name its header, and the parameter is that of the SAML binding.
const headerSSO = "SAMLResponse"

// sso is POST /g/sso. A user who needs a second factor here, by their own choice or the account's,
// gets the answer of authenticate in place of a session and goes on as after that one, unless the
// provider says that it asked for two.
func (c *call) sso() (any, error) {
	if c.o.SSO == nil {
		return nil, errAway
	}
	message, err := c.set.Text(headerSSO)
	if err != nil {
		return nil, err
	}
	if message == "" {
		message = c.r.Header.Get(headerSSO)
	}
	id, strong, err := c.o.SSO.User(c.r.Context(), message)
	if err != nil {
		return nil, err
	}
	o, t, err := c.sessions.Vouched(session.Vouched{UserID: id, Strong: strong, Device: c.set.Device(),
		Mark: c.set.Mark(), Agent: c.r.UserAgent(), From: c.from})
	if err != nil {
		return nil, err
	}
	if t.Token != "" {
		return t, nil
	}
	c.right = true
	c.signedIn(o)
	return map[string]string{api.CookieSession: o.Key, "user_id": o.User.ID}, nil
}

// sendCode is POST /g/aaa/two_factor_authenticate.
func (c *call) sendCode() (any, error) {
	in, err := c.text([]string{"token", "two_factor_authentication_type"})
	if err != nil {
		return nil, err
	}
	err = c.sessions.SendCode(unformed(in["token"]), in["two_factor_authentication_type"], c.endpoint.refusals()...)
	return nil, err
}

// updateFactor is POST /g/aaa/two_factor_authenticate/update.
func (c *call) updateFactor() (any, error) {
	if err := c.expect("two_factor_authentication_type", "password", "update_json"); err != nil {
		return nil, err
	}
	if err := c.set.Need("two_factor_authentication_type", "password"); err != nil {
		return nil, err
	}
	kind, err1 := c.set.Text("two_factor_authentication_type")
	password, err2 := c.set.Text("password")
	raw, err3 := c.set.JSON("update_json", api.Object)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	change := map[string]json.RawMessage{}
	if raw != nil {
		if err := json.Unmarshal(raw, &change); err != nil {
			return nil, api.Badf("update_json must be an object")
		}
	}
	names := slices.Collect(maps.Keys(change))
	if len(names) != 1 || !slices.Contains(session.ChangeFields, names[0]) {
		return nil, api.Badf("update_json must hold exactly one of %s", strings.Join(session.ChangeFields, ", "))
	}
	return nil, c.sessions.PrepareChange(c.r.Context(), c.caller, kind, password, change, c.endpoint.refusals()...)
}

var fourDigits = regexp.MustCompile(`^[0-9]{4}$`)

// verifyFactor is POST /g/aaa/two_factor_authenticate/verify.
func (c *call) verifyFactor() (any, error) {
	in, err := c.text([]string{"two_factor_authentication_code"})
	if err != nil {
		return nil, err
	}
	if !fourDigits.MatchString(in["two_factor_authentication_code"]) {
		return nil, api.Badf("two_factor_authentication_code must have four digits")
	}
	if err := c.sessions.VerifyChange(c.caller, in["two_factor_authentication_code"]); err != nil {
		return nil, err
	}
	c.right = true
	return nil, nil
}
