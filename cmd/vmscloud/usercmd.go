package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"vmsbridge/cmd/cli"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

// userCmd is what technical support can do with users: things that the interface leaves to nobody
// else.
type userCmd struct {
	List      userListCmd `cmd:"" help:"List users and their state."`
	Link      userLinkCmd `cmd:"" help:"Print a token with which a user sets a password, for where there is no mail."`
	Unlock    userSetCmd  `cmd:"" help:"Let a user in again who was locked by wrong passwords or codes."`
	Disable   userSetCmd  `cmd:"" help:"Shut a user out; sessions and tokens end at once."`
	Enable    userSetCmd  `cmd:"" help:"Let a disabled user in again."`
	Superuser userSetCmd  `cmd:"" help:"Make a user a superuser, who may do everything in every account."`

	Devices  userDevicesCmd  `cmd:"" help:"List the devices at which a user signs in without a code, or forget them."`
	Consents userConsentsCmd `cmd:"" help:"List what a user lets applications do, or take it back."`
}

// AfterApply tells the commands that differ in their verb only which they are.
func (c *userCmd) AfterApply() error {
	c.Unlock.verb, c.Disable.verb, c.Enable.verb, c.Superuser.verb = "unlock", "disable", "enable", "superuser"
	return nil
}

type userLinkCmd struct {
	storeFlag
	jsonFlag
	Email string `arg:"" help:"Address of the user."`
	Quiet bool   `help:"Print only the token." short:"q"`
}

func (c userLinkCmd) Run() error {
	return c.admin(func(ask asker) error {
		a, err := ask(adminRequest{Do: "user-link", ID: c.Email})
		if err != nil {
			return err
		}
		words := setPassword
		if c.Quiet {
			words = "%[3]s\n"
		}
		return c.said(secretOut(), object{"address": c.Email, "token": a.Secret, "hours": passwordHours}, words,
			c.Email, passwordHours, a.Secret, c.flags(), called())
	})
}

type userSetCmd struct {
	storeFlag
	jsonFlag
	Email string `arg:"" help:"Address of the user."`
	verb  string
}

func (c userSetCmd) Run() error {
	return c.admin(func(ask asker) error {
		if _, err := ask(adminRequest{Do: "user-" + c.verb, ID: c.Email}); err != nil {
			return err
		}
		return c.said(os.Stdout, object{"address": c.Email, "done": c.verb}, "Done: %s %s.\n", c.verb,
			printable(c.Email))
	})
}

type userListCmd struct {
	storeFlag
	jsonFlag
	Account string `help:"Id of the account, if there are several." placeholder:"ID"`
}

func (c userListCmd) Run() error {
	return c.admin(func(ask asker) error {
		account, err := c.pickAccount(ask, c.Account)
		if err != nil {
			return err
		}
		a, err := ask(adminRequest{Do: "users", ID: account.ID})
		if err != nil {
			return err
		}
		shown := make([]userShown, len(a.Users))
		for i, u := range a.Users {
			shown[i] = userShown{u.ID, u.Email, strings.TrimSpace(u.FirstName + " " + u.LastName), roleOf(u),
				stateOf(u), u.LastLogin}
		}
		return cli.List(os.Stdout, c.JSON, "ID, ADDRESS, NAME, ROLE, STATE, LAST LOGIN", shown,
			func(u userShown) []string {
				return []string{u.ID, printable(u.Address), printable(u.Name), u.Role, u.State, u.LastLogin}
			})
	})
}

// userShown is a user in a list.
type userShown struct {
	ID        string `json:"id"`
	Address   string `json:"address"`
	Name      string `json:"name"`
	Role      string `json:"role"`
	State     string `json:"state"`
	LastLogin string `json:"lastLogin,omitempty"`
}

func roleOf(u model.User) string {
	switch {
	case bool(u.IsSuperuser):
		return "superuser"
	case bool(u.IsAccountSuperuser):
		return "account superuser"
	}
	return "user"
}

func stateOf(u model.User) string {
	switch {
	case u.Locked():
		return "locked"
	case bool(u.IsPending):
		return "pending"
	case bool(u.IsActive):
		return "active"
	}
	return "disabled"
}

// changeUser does what userCmd says to the user of an address, and with what: a device.
func changeUser(ids *store.Store, verb, email, what string) (a adminAnswer, err error) {
	err = ids.Update(func(tx *store.Tx) error {
		u, err := tx.UserByEmail(email)
		if errors.Is(err, identity.ErrNotFound) {
			return missing(fmt.Sprintf("there is no user %q: list them with: vmscloud user list", email))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", email, err)
		}
		entry := model.AuditEntry{AccountID: u.OwnerAccountID, Action: model.AuditUpdate, Kind: model.KindUser,
			Target: u.ID, Name: u.Email, ByName: "support"}
		switch verb {
		case "link":
			entry.Action = model.AuditPassword
			a.Secret, err = passwordToken(tx, u)
		case "unlock":
			u.Inner.Locked, u.Inner.LockedWhy, u.Inner.CodeFailures, entry.Action = time.Time{}, "", 0,
				model.AuditUnlock
			err = tx.PutAttempts(u.Email, model.Attempts{})
		case "disable":
			u.IsActive, u.IsPending, u.Inner.Ousted, entry.Fields = false, false, tx.Now(), []string{"is_active"}
			err = tx.EndSessions(u.ID, nil)
		case "enable":
			// Without a password there is nothing to sign in with yet.
			u.IsActive, u.IsPending, entry.Fields = u.Inner.PasswordHash != "", u.Inner.PasswordHash == "",
				[]string{"is_active"}
		case "superuser":
			u.IsSuperuser, entry.Fields = true, []string{"is_superuser"}
		case "devices":
			a.Devices = devicesOf(u)
			return nil
		case "forget-device":
			entry.Fields = []string{"user_authenticated_clients"}
			if what == everything {
				u.SetDevices(nil)
				u.Inner.MarkKey = nil
			} else if !u.ForgetDevice(what) {
				return missing(fmt.Sprintf("%s has no trusted device %q: list them with: vmscloud user devices", email,
					what))
			}
		case "consents":
			a.Consents, err = consentsOf(tx, u)
			return err
		case "end-consent":
			if err := endConsents(tx, u, what); err != nil {
				return err
			}
			if u, err = tx.User(u.ID); err != nil {
				return err
			}
			entry.Fields = []string{"consent"}
		default:
			return fmt.Errorf("unknown change %q", verb)
		}
		return errors.Join(err, tx.PutUser(u), tx.Record(entry))
	})
	return a, err
}
