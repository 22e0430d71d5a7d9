package web

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
)

// authenticate is POST /g/aaa/authenticate.
func (c *call) authenticate() error {
	in, err := c.text([]string{"username", "password"})
	if err != nil {
		return err
	}
	t, err := c.desk.Authenticate(c.r.Context(), session.Login{Email: in["username"], Password: in["password"], Device: c.set.Device(), From: c.from},
		c.endpoint.refusals()...)
	if err != nil {
		return err
	}
	c.right = t.Factors == nil // else codes could be had without end
	return c.ok(ticketOf(t))
}

// ticket is the answer to the first step of a sign-in.
type ticket struct {
	Token   string          `json:"token"`
	Factors *session.Masked `json:"two_factor_authentication_code,omitempty"`
}

func ticketOf(t session.Ticket) ticket { return ticket{t.Token, t.Factors} }

// authorize is POST /g/aaa/authorize. A code that does not have four digits is a wrong one, not a wrong argument: it
// counts.
func (c *call) authorize() error {
	in, err := c.text([]string{"token"}, "two_factor_authentication_code")
	if err != nil {
		return err
	}
	o, err := c.desk.Authorize(c.r.Context(), session.Claim{Token: unformed(in["token"]), Code: in["two_factor_authentication_code"], Device: c.set.Device(), Mark: c.set.Mark(),
		From: c.from, Agent: c.r.UserAgent()})
	if err != nil {
		return err
	}
	c.right = true
	c.signedIn(o)
	return c.ok(struct {
		model.User
		UserID string `json:"user_id"`
	}{o.User.Shown(c.store.Now(), o.Home, o.Session.ActiveAccount, c.desk.Cluster()), o.User.ID})
}

// unformed is the token of authenticate as it was given: it is base64, and a plus of it that a client put into a form as it
// was has arrived as a space.
func unformed(token string) string { return strings.ReplaceAll(token, " ", "+") }

// isAuth is GET /g/aaa/isauth.
func (c *call) isAuth() error { return c.ok(true) }

// logout is POST /g/aaa/logout.
func (c *call) logout() error {
	if err := c.expect(); err != nil {
		return err
	}
	if err := c.desk.End(c.caller); err != nil {
		return err
	}
	c.signedOut()
	return c.answer(http.StatusNoContent, nil)
}

// switchAccount is POST /g/aaa/switch_account. The body of the answer is not documented; a client reads it as JSON.
func (c *call) switchAccount() error {
	in, err := c.text(nil, "account_id")
	if err != nil {
		return err
	}
	me, err := c.desk.Switch(c.caller, in["account_id"])
	if err != nil {
		return err
	}
	return c.ok(map[string]string{"id": me.Active.ID, "active_account_id": me.Active.ID})
}

// headerSSO carries the identity provider's message, as the parameter of the same name does; the document does not name its
// header, and the parameter is that of the SAML binding.
const headerSSO = "SAMLResponse"

// sso is POST /g/sso. A user who needs a second factor here, by their own choice or the account's, gets the answer of
// authenticate in place of a session and goes on as after that one, unless the provider says that it asked for two.
func (c *call) sso() error {
	if c.o.SSO == nil {
		return errAway
	}
	message, err := c.set.Text(headerSSO)
	if err != nil {
		return err
	}
	if message == "" {
		message = c.r.Header.Get(headerSSO)
	}
	id, strong, err := c.o.SSO.User(c.r.Context(), message)
	if err != nil {
		return err
	}
	o, t, err := c.desk.Vouched(session.Vouched{UserID: id, Strong: strong, Device: c.set.Device(), Mark: c.set.Mark(), From: c.from})
	if err != nil {
		return err
	}
	if t.Token != "" {
		return c.ok(ticketOf(t))
	}
	c.right = true
	c.signedIn(o)
	return c.ok(map[string]string{api.CookieSession: o.Key, "user_id": o.User.ID})
}

// sendCode is POST /g/aaa/two_factor_authenticate.
func (c *call) sendCode() error {
	in, err := c.text([]string{"token", "two_factor_authentication_type"})
	if err != nil {
		return err
	}
	err = c.desk.SendCode(unformed(in["token"]), in["two_factor_authentication_type"], c.endpoint.refusals()...)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, nil)
}

// factorFields are those that update_json changes, one at a time.
var factorFields = []string{"sms_phone", "email", "is_two_factor_authentication_enabled"}

// updateFactor is POST /g/aaa/two_factor_authenticate/update.
func (c *call) updateFactor() error {
	if err := c.expect("two_factor_authentication_type", "password", "update_json"); err != nil {
		return err
	}
	if err := c.set.Need("two_factor_authentication_type", "password"); err != nil {
		return err
	}
	kind, err1 := c.set.Text("two_factor_authentication_type")
	password, err2 := c.set.Text("password")
	raw, err3 := c.set.JSON("update_json", api.Object)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	change := map[string]json.RawMessage{}
	if raw != nil {
		if err := json.Unmarshal(raw, &change); err != nil {
			return api.Badf("update_json must be an object")
		}
	}
	names := slices.Collect(maps.Keys(change))
	if len(names) != 1 || !slices.Contains(factorFields, names[0]) {
		return api.Badf("update_json must hold exactly one of %s", strings.Join(factorFields, ", "))
	}
	if err := c.desk.PrepareChange(c.r.Context(), c.caller, kind, password, change, c.endpoint.refusals()...); err != nil {
		return err
	}
	return c.answer(http.StatusOK, nil)
}

var fourDigits = regexp.MustCompile(`^[0-9]{4}$`)

// verifyFactor is POST /g/aaa/two_factor_authenticate/verify.
func (c *call) verifyFactor() error {
	in, err := c.text([]string{"two_factor_authentication_code"})
	if err != nil {
		return err
	}
	if !fourDigits.MatchString(in["two_factor_authentication_code"]) {
		return api.Badf("two_factor_authentication_code must have four digits")
	}
	if err := c.desk.VerifyChange(c.caller, in["two_factor_authentication_code"]); err != nil {
		return err
	}
	c.right = true
	return c.answer(http.StatusOK, nil)
}
