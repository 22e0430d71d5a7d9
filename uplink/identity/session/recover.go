package session

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/store"
)

// Weak is the 400 for a password that may not be set, nil if it may. what is wrong stands in the
// data, as the public service writes it.
func Weak(password string) *api.Error {
	why := identity.CheckPassword(password)
	if why == "" {
		return nil
	}
	e := api.NewError(api.CodeArguments, "InvalidPassword", "the password "+why)
	e.Data = map[string]any{"failed_requirements": map[string]bool{"length": strings.Contains(why, "characters")}}
	return e
}

// Forgot sends a link to set another password, unless enough were sent. An address that nobody has
// is no error and takes as long.
func (d *Service) Forgot(email string, codes ...int) error {
	return d.update(func(tx *store.Tx, send *[]notify.Message) error {
		var held api.Held
		held.Add(model.CheckEmail(email) != nil, errEmail)
		u, home, found, err := d.findUser(tx, email, "")
		if err != nil {
			return err
		}
		if found {
			states(&held, u, home)
		}
		if err := held.Last(codes...); err != nil {
			return err
		}
		much := false
		if found {
			if much, err = enough(tx, u, notify.PasswordReset); err != nil {
				return err
			}
		}
		if !found || much {
			return ticket(tx, identity.NewToken(48), model.PurposePassword, model.User{}, resetTime)
		}
		l, err := d.Invite(tx, u, home, notify.PasswordReset)
		*send = append(*send, l)
		return err
	})
}

// CheckReset is nil if a token could be used to set a password.
func (d *Service) CheckReset(token string, codes ...int) error {
	return d.store.View(func(tx *store.Tx) error {
		_, _, _, err := d.resetting(tx, token, nil, codes)
		return err
	})
}

// resetting finds whose password a token may set.
func (d *Service) resetting(tx *store.Tx, token string, weak *api.Error, codes []int) (t model.Ticket,
	u model.User, home model.Account, err error) {
	var held api.Held
	held.Add(weak != nil, weak)
	t, err = tx.Ticket(identity.HashToken(token))
	if errors.Is(err, identity.ErrNotFound) || err == nil && !t.Good(model.PurposePassword, tx.Now()) {
		held.Add(true, errReset)
	} else if err != nil {
		return t, u, home, err
	} else {
		if u, home, err = userAndHome(tx, t.UserID); err != nil {
			return t, u, home, err
		}
		states(&held, u, home)
	}
	return t, u, home, held.Last(codes...)
}

// Reset sets a password by a token, which makes a pending user active, ends the user's other
// sessions, and opens one. A user who needs a second factor gets the ticket of a sign-in and no
// session: a link in a mail is one factor.
func (d *Service) Reset(ctx context.Context, token, password string, terms []string, from Origin,
	codes ...int) (Opened, Ticket, error) {
	weak := Weak(password)
	if err := d.CheckReset(token, codes...); err != nil && weak == nil {
		return Opened{}, Ticket{}, err // before the work of hashing
	}
	hash := ""
	if weak == nil {
		var err error
		if hash, err = d.hasher.Hash(ctx, password); err != nil {
			return Opened{}, Ticket{}, err
		}
	}
	var out Opened
	var next Ticket
	err := d.store.Update(func(tx *store.Tx) error {
		out, next = Opened{}, Ticket{}
		_, u, home, err := d.resetting(tx, token, weak, codes)
		if err != nil {
			return err
		}
		if len(terms) > 0 {
			u.Inner.Terms, u.IsTermsNoncompliant = terms, false
		}
		u.Inner.Mailbox = model.Fold(u.Email) // the token came by mail, or from an operator
		if u, err = SetPassword(tx, u, hash, nil); err != nil {
			return err
		}
		out, next, err = d.enter(tx, u, home, from)
		return errors.Join(err, tx.Record(mine(u, model.AuditPassword, from.Addr)))
	})
	return out, next, err
}

// enter opens a session for who came by a link, or begins a sign-in where the user needs a code.
func (d *Service) enter(tx *store.Tx, u model.User, home model.Account, from Origin) (o Opened, t Ticket,
	err error) {
	if d.needsCode(u, home, "") {
		t, err = d.begin(tx, u, true)
		return Opened{User: u, Home: home}, t, err
	}
	o, err = d.Open(tx, u, home, from)
	return o, t, err
}

// SetPassword gives a user a password, which makes a pending one active, ends all sessions but the
// one with the hash except, forgets all trusted and known devices, and makes all links and codes
// worthless.
func SetPassword(tx *store.Tx, u model.User, hash string, except []byte) (model.User, error) {
	u.Inner.PasswordHash, u.Inner.PasswordSet = hash, tx.Now()
	u.Inner.MarkKey = nil
	u.SetDevices(nil)
	if u.IsPending {
		u.IsPending, u.IsActive = false, true
	}
	return u, errors.Join(tx.PutUser(u), tx.EndSessions(u.ID, except),
		tx.DropMessages(u.ID, string(notify.UserCreated), string(notify.PasswordReset)),
		tx.DropTickets(u.ID, model.PurposeLogin, model.PurposePassword, model.PurposeFactor, model.PurposeCode))
}

// Validate makes a pending account active by the link in its mail, and opens a session for its
// first user, or begins a sign-in as Reset does.
func (d *Service) Validate(id, token string, from Origin, codes ...int) (Opened, Ticket, error) {
	var out Opened
	var next Ticket
	err := d.update(func(tx *store.Tx, send *[]notify.Message) error {
		var held api.Held
		t, err := tx.Ticket(identity.HashToken(token))
		if err != nil && !errors.Is(err, identity.ErrNotFound) {
			return err
		}
		if err != nil || !t.Good(model.PurposeActivate, tx.Now()) || t.AccountID != id {
			held.Add(true, errReset)
			return held.Last(codes...)
		}
		u, home, err := userAndHome(tx, t.UserID)
		if err != nil {
			return err
		}
		states(&held, u, home)
		held.Add(home.Is(model.StatusActive) || t.Used, errActive)
		if err := held.Last(codes...); err != nil {
			return err
		}
		u.Inner.Mailbox = model.Fold(u.Email)
		home.Status, t.Used = model.Texts{model.StatusActive}, true
		entry := mine(u, model.AuditActivate, from.Addr)
		entry.Kind, entry.Target, entry.Name = model.KindAccount, home.ID, home.Name
		if err := errors.Join(tx.PutAccount(home), tx.PutTicket(t), tx.Record(entry)); err != nil {
			return err
		}
		if u.IsPending {
			l, err := d.Invite(tx, u, home, notify.UserCreated)
			if *send = append(*send, l); err != nil {
				return err
			}
		}
		out, next, err = d.enter(tx, u, home, from)
		return err
	})
	return out, next, err
}

// Resend sends the mail of a kind again: Registration while the account is pending, UserCreated
// while the user is.
func (d *Service) Resend(email, realm string, k notify.Kind, codes ...int) error {
	return d.update(func(tx *store.Tx, send *[]notify.Message) error {
		var held api.Held
		u, home, found, err := d.findUser(tx, email, realm)
		if err != nil {
			return err
		}
		held.Add(!found, errUnknown)
		if found {
			states(&held, u, home)
			held.Add(k == notify.Registration && home.Is(model.StatusActive) || k == notify.UserCreated &&
				bool(u.IsActive), errActive)
		}
		if err := held.Last(codes...); err != nil {
			return err
		}
		if much, err := enough(tx, u, k); err != nil || much {
			return err
		}
		l, err := d.Invite(tx, u, home, k)
		*send = append(*send, l)
		return err
	})
}

// Application is what someone gives to open an account.
type Application struct {
	Email, Password, Name, Realm string
	FirstName, LastName          string
	Timezone                     string
	APIAccess                    bool
	From                         netip.Addr
}

// Apply makes an account that waits for its link to be followed, with its account superuser. Errors
// are *api.Error 400, 406 and 409.
func (d *Service) Apply(ctx context.Context, in Application, codes ...int) error {
	var held api.Held
	weak := Weak(in.Password)
	held.Add(weak != nil, weak)
	held.Add(model.CheckEmail(in.Email) != nil, api.Badf("email must be an e-mail address in ASCII"))
	held.Add(in.Realm != "" && in.Realm != d.realm, errRealm)
	if err := held.Last(codes...); err != nil && isTaken(d, in.Email) == nil {
		return err
	}
	hash, err := d.hasher.Hash(ctx, in.Password)
	if err != nil {
		return err
	}
	return d.update(func(tx *store.Tx, send *[]notify.Message) error {
		_, err := tx.UserByEmail(in.Email)
		held.Add(err == nil, errTaken)
		if err := held.Last(codes...); err != nil {
			return err
		}
		a := model.NewAccount()
		a.Name, a.ContactEmail, a.ContactFirstName, a.ContactLastName = in.Name, in.Email, in.FirstName, in.LastName
		a.Inner.Realm, a.Inner.APIAccess = in.Realm, in.APIAccess
		u := model.NewUser()
		u.Email, u.FirstName, u.LastName = in.Email, in.FirstName, in.LastName
		u.IsAccountSuperuser, u.IsActive, u.IsPending = true, true, false
		u.Inner.PasswordHash, u.Inner.PasswordSet = hash, tx.Now()
		if in.Timezone != "" {
			a.Timezone, u.Timezone = in.Timezone, in.Timezone
		}
		if a.Name == "" {
			a.Name = strings.TrimSpace(in.FirstName + " " + in.LastName)
		}
		if a.Name == "" {
			a.Name = in.Email
		}
		if a, err = tx.AddAccount(a); err != nil {
			return err
		}
		u.OwnerAccountID = a.ID
		if u, err = tx.AddUser(u.Settled()); err != nil {
			return err
		}
		l, err := d.Invite(tx, u, a, notify.Registration)
		*send = append(*send, l)
		of, acc := mine(u, model.AuditCreate, in.From), mine(u, model.AuditCreate, in.From)
		acc.Kind, acc.Target, acc.Name = model.KindAccount, a.ID, a.Name
		return errors.Join(err, tx.Record(acc), tx.Record(of))
	})
}

// isTaken is errTaken if someone has the address.
func isTaken(d *Service, email string) error {
	err := d.store.View(func(tx *store.Tx) error {
		_, err := tx.UserByEmail(email)
		return err
	})
	if err == nil {
		return errTaken
	}
	return nil
}

// Online counts the users of an account with a live session that was used within the last minutes.
func (d *Service) Online(tx *store.Tx, account model.Account) (int, error) {
	const recent = 5 * time.Minute
	users, err := tx.UsersOf(account.ID)
	if err != nil {
		return 0, err
	}
	n, idle := 0, time.Duration(account.InactiveSessionTimeout)*time.Second
	for _, u := range users {
		sessions, err := tx.SessionsOf(u.ID)
		if err != nil {
			return 0, err
		}
		if slices.ContainsFunc(sessions, func(s model.Session) bool {
			return s.Live(tx.Now(), idle) && tx.Now().Sub(s.Seen) < recent
		}) {
			n++
		}
	}
	return n, nil
}
