package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/store"
)

// ChangeFields are those that PrepareChange takes, one at a time.
var ChangeFields = []string{"sms_phone", "email", "is_two_factor_authentication_enabled"}

// change is what a verified code puts into effect: one field. It is kept with the ticket until
// then.
type change struct {
	Phone   *string     `json:"sms_phone,omitempty"`
	Email   *string     `json:"email,omitempty"`
	Enabled *model.Flag `json:"is_two_factor_authentication_enabled,omitempty"`
}

// PrepareChange prepares a change of what the second factor depends on and sends a code to where
// codes go now. The session c must be good still. Errors are *api.Error: 400 for what cannot be
// set, 401 for a wrong password, 415 for a kind by which this user cannot get a code. That an
// address is taken is not told here but by VerifyChange: it needs the code.
func (d *Service) PrepareChange(ctx context.Context, c Caller, kind, password string,
	fields map[string]json.RawMessage, codes ...int) error {
	right, err := d.hasher.Check(ctx, c.User.Inner.PasswordHash, password)
	if err != nil {
		return err
	}
	wanted, bad := parse(fields)
	channel := notify.Channel(kind)
	var l notify.Message
	err = d.store.Update(func(tx *store.Tx) error {
		u, home, err := again(tx, c)
		if err != nil {
			return err
		}
		var held api.Held
		held.Add(bad != nil, bad)
		held.Add(wanted.off() && bool(home.IsFactorForced),
			api.Badf("is_two_factor_authentication_enabled: the account asks everyone for a code"))
		held.Add(!right || u.Inner.PasswordHash != c.User.Inner.PasswordHash,
			api.NewError(api.CodeInvalid, "InvalidPassword", "the password is wrong"))
		held.Add(channel != notify.Mail && channel != notify.Text, errKind)
		held.Add(d.destination(u, channel) == "", errNoPhone)
		if err := held.Last(codes...); err != nil {
			return err
		}
		raw, err := json.Marshal(wanted)
		if err != nil {
			return fmt.Errorf("keep change: %w", err)
		}
		t := model.Ticket{Hash: identity.HashToken(identity.NewTicket()), Purpose: model.PurposeFactor,
			AccountID: u.OwnerAccountID, UserID: u.ID,
			Created: tx.Now(), Change: raw}
		l = issue(tx, &t, u, channel, d.destination(u, channel))
		return errors.Join(tx.DropTickets(u.ID, model.PurposeFactor), tx.PutTicket(t))
	})
	if err == nil {
		err = d.dispatch(l)
	}
	if errors.Is(err, errNoWay) {
		return errNoPhone
	}
	return err
}

// VerifyChange puts the prepared change into effect. Errors are *api.Error: 406 for a code that is
// wrong, expired or not asked for, and for an address that is taken meanwhile. More than three
// wrong codes lock the user and end the sessions.
func (d *Service) VerifyChange(c Caller, code string) error {
	return d.update(func(tx *store.Tx, send *[]notify.Message) error {
		u, home, err := again(tx, c)
		if err != nil {
			return err
		}
		t, found, err := prepared(tx, u)
		if err != nil {
			return err
		}
		if !found {
			return errWrong
		}
		if d.checkCode(tx, &t, &u, code) != nil {
			entry := c.Entry(u.OwnerAccountID, model.AuditRefuse, model.KindUser, u.ID, u.Email)
			if err := wrongCode(tx, t, u, home, entry, send); err != nil {
				return err
			}
			return keep(errWrong) // of whatever kind: 406 is all that there is here
		}
		if err := tx.DropTickets(u.ID, model.PurposeFactor); err != nil {
			return err
		}
		return keep(apply(tx, c, u, home, t.Change))
	})
}

// again reads the caller's user within the transaction; the session may have ended since the
// request began.
func again(tx *store.Tx, c Caller) (model.User, model.Account, error) {
	_, err := tx.Session(c.Session.Hash)
	var u model.User
	var home model.Account
	if err == nil {
		u, err = tx.User(c.User.ID)
	}
	if err == nil {
		home, err = tx.Account(u.OwnerAccountID)
	}
	if notFound(err) || err == nil && u.Disabled() {
		return u, home, api.NewError(api.CodeInvalid, "InvalidSession", "the session is not valid; sign in again")
	}
	return u, home, err
}

// prepared finds the change that waits for a code of the user.
func prepared(tx *store.Tx, u model.User) (model.Ticket, bool, error) {
	tickets, err := tx.TicketsOf(u.ID)
	for _, t := range tickets {
		if t.Good(model.PurposeFactor, tx.Now()) {
			return t, true, err
		}
	}
	return model.Ticket{}, false, err
}

// apply makes the change. The error is a 406 for one that is no longer possible.
func apply(tx *store.Tx, c Caller, u model.User, home model.Account, raw json.RawMessage) error {
	var w change
	if err := json.Unmarshal(raw, &w); err != nil {
		return fmt.Errorf("read change: %w", err)
	}
	field, drop := "", []model.Purpose{model.PurposeLogin}
	switch {
	case w.off() && bool(home.IsFactorForced):
		return api.NewError(api.CodeUnverified, "FactorForced", "the account asks everyone for a code")
	case w.Phone != nil:
		field, u.SMSPhone = "sms_phone", *w.Phone
	case w.Email != nil:
		other, err := tx.UserByEmail(*w.Email)
		if err == nil && other.ID != u.ID {
			return api.NewError(api.CodeUnverified, "EmailExists", "the address is registered already")
		} else if err != nil && !errors.Is(err, identity.ErrNotFound) {
			return err
		}
		// Links in the mailbox that is left behind open nothing any more.
		field, u.Email, drop = "email", *w.Email, append(drop, model.PurposePassword)
	case w.Enabled != nil:
		field, u.IsFactorEnabled = "is_two_factor_authentication_enabled", *w.Enabled
	}
	entry := c.Entry(u.OwnerAccountID, model.AuditUpdate, model.KindUser, u.ID, u.Email)
	entry.Fields = []string{field}
	return errors.Join(tx.PutUser(u), tx.DropTickets(u.ID, drop...), tx.Record(entry))
}

// off says whether the change lets the user sign in without a code.
func (w change) off() bool { return w.Enabled != nil && !bool(*w.Enabled) }

// parse reads the one field of update_json.
func parse(fields map[string]json.RawMessage) (w change, bad *api.Error) {
	if len(fields) != 1 {
		return w, api.Badf("update_json must hold exactly one of %s", strings.Join(ChangeFields, ", "))
	}
	for name, raw := range fields {
		var text string
		switch name {
		case "sms_phone":
			w.Phone = &text
			if json.Unmarshal(raw, &text) != nil || text != "" && model.CheckPhone(text) != nil {
				return w, api.Badf("sms_phone must be a telephone number such as +1 512 555 0100")
			}
		case "email":
			w.Email = &text
			if json.Unmarshal(raw, &text) != nil || model.CheckEmail(text) != nil {
				return w, api.Badf("email must be an e-mail address in ASCII")
			}
		case "is_two_factor_authentication_enabled":
			w.Enabled = new(model.Flag)
			if string(raw) == "null" || json.Unmarshal(raw, w.Enabled) != nil {
				return w, api.Badf("is_two_factor_authentication_enabled must be 1 or 0")
			}
		default:
			return w, api.Badf("update_json: %.40q cannot be changed here", name)
		}
	}
	return w, nil
}
