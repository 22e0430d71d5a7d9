package web

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
)

var errWrongPassword = api.NewError(api.CodeUnverified, "InvalidPassword", "the current password is wrong")

// createAccount is POST /g/aaa/create_account.
func (c *call) createAccount() (any, error) {
	if !c.o.CreateAccounts {
		return nil, errAway
	}
	const flag = "is_api_access_needed"
	needsAPI, err := c.set.Bool(flag)
	if err != nil {
		return nil, err
	}
	in, err := c.text([]string{"email", "password"}, "name", "realm", "first_name", "last_name", "timezone", flag)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"name", "first_name", "last_name"} {
		if err := model.CheckLine(in[name]); err != nil {
			return nil, api.Badf("%s %v", name, err)
		}
	}
	if zone := in["timezone"]; zone != "" {
		if _, err := time.LoadLocation(zone); err != nil || zone == "Local" {
			return nil, api.Badf("timezone must be a timezone such as US/Pacific")
		}
	}
	err = c.sessions.Apply(c.r.Context(), session.Application{Email: in["email"], Password: in["password"],
		Name: in["name"], Realm: in["realm"],
		FirstName: in["first_name"], LastName: in["last_name"], Timezone: in["timezone"], APIAccess: needsAPI,
		From: c.from},
		c.endpoint.refusals()...)
	return nil, err
}

// validateAccount is POST /g/aaa/validate_account.
func (c *call) validateAccount() (any, error) {
	in, err := c.text([]string{"id", "token"})
	if err != nil {
		return nil, err
	}
	o, t, err := c.sessions.Validate(in["id"], in["token"], c.origin(), c.endpoint.refusals()...)
	if err != nil {
		return nil, err
	}
	return c.entered(o, t)
}

// forgotPassword is POST /g/aaa/forgot_password.
func (c *call) forgotPassword() (any, error) {
	in, err := c.text([]string{"email"})
	if err != nil {
		return nil, err
	}
	return nil, c.sessions.Forgot(in["email"], c.endpoint.refusals()...)
}

// checkReset is POST /g/aaa/check_pw_reset_token.
func (c *call) checkReset() (any, error) {
	in, err := c.text([]string{"token"})
	if err != nil {
		return nil, err
	}
	if err := c.sessions.CheckReset(in["token"], c.endpoint.refusals()...); err != nil {
		return nil, err
	}
	c.right = true
	return nil, nil
}

// resetPassword is POST /g/aaa/reset_password.
func (c *call) resetPassword() (any, error) {
	const terms = "accepted_terms_of_service_urls"
	if err := c.expect("token", "password", terms); err != nil {
		return nil, err
	}
	if err := c.set.Need("token", "password"); err != nil {
		return nil, err
	}
	token, err1 := c.set.Text("token")
	password, err2 := c.set.Text("password")
	accepted, err3 := c.set.JSON(terms, api.Texts) // a string in the interface, a list where there are several
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	var urls []string
	if accepted != nil {
		if err := json.Unmarshal(accepted, &urls); err != nil {
			return nil, api.Badf("%s must be text", terms)
		}
	}
	o, t, err := c.sessions.Reset(c.r.Context(), token, password,
		slices.DeleteFunc(urls, func(s string) bool { return s == "" }),
		c.origin(), c.endpoint.refusals()...)
	if err != nil {
		return nil, err
	}
	return c.entered(o, t)
}

// entered answers who came by a link: with a session, or as authenticate does where a code is
// needed.
func (c *call) entered(o session.Opened, t session.Ticket) (any, error) {
	c.right = true
	if t.Token == "" {
		c.signedIn(o)
		return map[string]string{"user_id": o.User.ID}, nil
	}
	return struct {
		ID string `json:"user_id"`
		session.Ticket
	}{o.User.ID, t}, nil
}

// resendRegistration is POST /g/aaa/resend_registration_email.
func (c *call) resendRegistration() (any, error) { return c.resend(notify.Registration) }

// resendVerification is POST /g/aaa/resend_user_verification_email.
func (c *call) resendVerification() (any, error) { return c.resend(notify.UserCreated) }

func (c *call) resend(k notify.Kind) (any, error) {
	in, err := c.text([]string{"email"}, "realm")
	if err != nil {
		return nil, err
	}
	return nil, c.sessions.Resend(in["email"], in["realm"], k, c.endpoint.refusals()...)
}

// inCharge is the user of an id whose sign-in the caller is in charge of: themselves, or one whom
// they, an account superuser or superuser, may manage. A user whom the caller may not manage is as
// little found as one who does not exist.
func inCharge(tx *store.Tx, me session.Caller, id string) (model.User, error) {
	u, err := tx.User(id)
	if err != nil || u.ID == me.User.ID {
		return u, found(err, errNoUser)
	}
	account, err := tx.Account(u.OwnerAccountID)
	if err != nil {
		return u, err
	}
	place := me.Place(account)
	if !me.Rule().Admin(place) || !model.MayManageUser(me.Rule(), place, model.TargetKindOf(u), model.OpUpdate) {
		return u, errNoUser
	}
	return u, nil
}

// changePassword is POST /g/aaa/change_password: of one's own, with the current one, or of a user
// whom the caller, an account superuser or superuser, may manage. A user whom the caller may not
// manage is as little found as one who does not exist.
func (c *call) changePassword() (any, error) {
	in, err := c.text([]string{"password"}, "id", "current_password")
	if err != nil {
		return nil, err
	}
	id := in["id"]
	own := id == "" || id == c.caller.User.ID
	if own {
		id = c.caller.User.ID
	}
	var bad error
	if weak := session.Weak(in["password"]); weak != nil {
		bad = weak
	}
	if own && in["current_password"] == "" {
		bad = api.Badf("missing arguments: current_password")
	} else if own {
		right, err := c.sessions.Confirm(c.r.Context(), c.caller.User, in["current_password"])
		if err != nil {
			return nil, err
		} else if !right {
			bad = c.last(bad, errWrongPassword)
		}
	}
	if bad != nil && own {
		return nil, bad
	}
	hash, err := c.sessions.Hash(c.r.Context(), in["password"])
	if err != nil {
		return nil, err
	}
	err = c.update(func(tx *store.Tx, me session.Caller) error {
		u, err := inCharge(tx, me, id)
		if err != nil {
			return err
		}
		if bad != nil {
			return bad
		}
		if own && u.Inner.PasswordHash != c.caller.User.Inner.PasswordHash {
			return errWrongPassword // it was changed in between
		}
		var keep []byte
		if own {
			keep = me.Session.Hash
		}
		u, err = session.SetPassword(tx, u, hash, keep)
		if err != nil {
			return err
		}
		return tx.Record(me.Entry(u.OwnerAccountID, model.AuditPassword, model.KindUser, u.ID, u.Email))
	})
	if err != nil {
		return nil, err
	}
	c.right = true
	return map[string]string{"id": id}, nil
}
