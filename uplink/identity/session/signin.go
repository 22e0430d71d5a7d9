package session

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/store"
)

// Login is the first step.
type Login struct {
	Email, Password string
	Device          string     // cookie tfa_key, "" if there is none
	From            netip.Addr // of the client
}

// Ticket is what the first step gives. Factors is nil if the token is all that authorize needs.
type Ticket struct {
	Token   string  `json:"token"`
	Factors *Masked `json:"two_factor_authentication_code,omitempty"`
}

// Claim is the second step.
type Claim struct {
	Token, Code string
	Device      string // cookie tfa_key, "" if there is none
	Mark        string // of a known device, "" if there is none
	// Agent is what the client says that it is: the name of the session, and that of a device until
	// its user gives it another.
	Agent string
	From  netip.Addr
}

// Origin is where a client is, and what it says that it is.
type Origin struct {
	Addr  netip.Addr
	Agent string
}

// Opened is a session that was just made. Key is the cookie auth_key, Device the cookie tfa_key and
// Mark that of a known device, or "" to leave them alone.
type Opened struct {
	Key     string
	Device  string
	Mark    string
	User    model.User
	Home    model.Account
	Session model.Session
}

// ErrFactor says that a user needs a code and so cannot be let in by a password alone.
var ErrFactor = api.NewError(api.CodeInvalid, "TwoFactorNeeded", "this user signs in with a code; use the sign-in page")

// Authenticate is the first step: it checks address and password and gives a token that is good
// once and for a short time. Errors are *api.Error: of those whose condition holds the last in the
// order of codes, as the interface has it: a wrong password of a user whose account is suspended is
// 402. The other calls, such as forgot_password, tell that state too. An address that nobody has
// takes as long as one that someone has.
func (d *Service) Authenticate(ctx context.Context, in Login, codes ...int) (Ticket, error) {
	var out Ticket
	err := d.login(ctx, in, codes, func(tx *store.Tx, u model.User, home model.Account) error {
		var err error
		out, err = d.begin(tx, u, d.needsCode(u, home, in.Device))
		return err
	})
	if err != nil {
		return Ticket{}, err
	}
	return out, nil
}

// Password checks address and password as Authenticate does, for callers that give something else
// than a session. The error is ErrFactor if the user needs a code.
func (d *Service) Password(ctx context.Context, in Login) (model.User, error) {
	var out model.User
	err := d.login(ctx, in, nil, func(_ *store.Tx, u model.User, home model.Account) error {
		if out = u; d.needsCode(u, home, in.Device) {
			return ErrFactor
		}
		return nil
	})
	return out, err
}

// login checks everything and calls done in the transaction that clears the count of wrong
// passwords.
func (d *Service) login(ctx context.Context, in Login, codes []int,
	done func(*store.Tx, model.User, model.Account) error) error {
	var hash string
	err := d.store.View(func(tx *store.Tx) error {
		u, _, _, err := d.findUser(tx, in.Email, "")
		hash = u.Inner.PasswordHash
		return err
	})
	if err != nil {
		return err
	}
	right, err := d.hasher.Check(ctx, hash, in.Password)
	if err != nil {
		return err
	}
	return d.update(func(tx *store.Tx, send *[]notify.Message) error {
		u, home, found, err := d.findUser(tx, in.Email, "")
		if err != nil {
			return err
		}
		good := found && right && hash == u.Inner.PasswordHash // it may have changed meanwhile
		was := u
		if err := d.count(tx, in, good, found, &u, home, send); err != nil {
			return err
		}
		var held api.Held
		held.Add(!good || !allowed(home, in.From), errCredentials)
		if found {
			states(&held, was, home) // what the call found: the wrong password that locks is 401 still
		}
		if good {
			held.Add(!model.Within(u.AccessPeriod, u.Timezone, tx.Now()), errHours)
		}
		if err := held.Last(codes...); err != nil {
			return keep(err) // with the count
		}
		return keep(done(tx, u, home))
	})
}

// count keeps the number of wrong passwords for an address, known or not, so that both take the
// same time, and locks a user whose account sets a limit.
func (d *Service) count(tx *store.Tx, in Login, good, found bool, u *model.User, home model.Account,
	send *[]notify.Message) error {
	a, err := tx.Attempts(in.Email)
	if err != nil {
		return err
	}
	if good {
		if a.Count == 0 {
			return nil
		}
		return tx.PutAttempts(in.Email, model.Attempts{})
	}
	a.Count, a.Last = a.Count+1, tx.Now()
	if err := tx.PutAttempts(in.Email, a); err != nil || !found {
		return err
	}
	entry := mine(*u, model.AuditRefuse, in.From)
	entry.By, entry.ByName = "", ""
	if limit := home.LoginAttemptLimit; limit > 0 && a.Count >= limit && !u.Locked() {
		u.Lock(tx.Now(), "wrong passwords")
		entry.Action = model.AuditLock
		l, err := LockedOut(tx, *u, home)
		*send = append(*send, l)
		if err := errors.Join(err, tx.PutUser(*u), tx.EndSessions(u.ID, nil)); err != nil {
			return err
		}
	}
	return tx.Record(entry)
}

// Authorize is the second step: it exchanges the token, and the code where one is needed, for a
// session. Errors are *api.Error: 401, and with a second factor 406 and 429.
func (d *Service) Authorize(_ context.Context, in Claim) (Opened, error) {
	var out Opened
	err := d.update(func(tx *store.Tx, send *[]notify.Message) error {
		t, err := tx.Ticket(identity.HashToken(in.Token))
		if errors.Is(err, identity.ErrNotFound) || err == nil && !t.Good(model.PurposeLogin, tx.Now()) {
			return errToken
		} else if err != nil {
			return err
		}
		u, home, err := userAndHome(tx, t.UserID)
		if err != nil {
			return err
		}
		switch {
		case u.Locked():
			return errLocked
		case u.Disabled() || bool(u.IsPending) || !home.Is(model.StatusActive) || !allowed(home, in.From):
			return errToken
		case t.Factor:
			if wrong := d.checkCode(tx, &t, &u, in.Code); wrong != nil {
				entry := mine(u, model.AuditRefuse, in.From)
				entry.By, entry.ByName = "", ""
				if err := wrongCode(tx, t, u, home, entry, send); err != nil {
					return err
				}
				return keep(wrong)
			}
			if out.Device, err = d.trust(tx, &u, in.Device, model.Name(in.Agent)); err != nil {
				return err
			}
		}
		if out.Device == "" && d.trusted(u, in.Device) {
			hash := identity.HashToken(in.Device)
			u.EditDevice(func(x model.Device) bool { return identity.SameHash(x.Hash, hash) },
				func(x *model.Device) { x.Used = tx.Now() })
		}
		if err := tx.DeleteTicket(t.Hash); err != nil {
			return err
		}
		device, mark := out.Device, remember(&u, in.Mark, tx.Now())
		out, err = d.Open(tx, u, home, Origin{in.From, in.Agent})
		out.Device, out.Mark = device, mark
		return err
	})
	if err != nil {
		return Opened{}, err
	}
	return out, nil
}

// wrongCode keeps what a wrong code changed. An entry of the audit trail tells of it.
func wrongCode(tx *store.Tx, t model.Ticket, u model.User, home model.Account, entry model.AuditEntry,
	send *[]notify.Message) error {
	var err error
	if u.Locked() {
		entry.Action = model.AuditLock
		l, lost := LockedOut(tx, u, home)
		*send = append(*send, l)
		err = errors.Join(lost, tx.EndSessions(u.ID, nil), tx.DropTickets(u.ID, model.PurposeLogin,
			model.PurposePassword, model.PurposeFactor, model.PurposeCode))
	}
	if !u.Locked() || t.Purpose == model.PurposeLogin {
		// The ticket of a sign-in stays, so that another try with it says that the user is locked.
		err = errors.Join(err, tx.PutTicket(t))
	}
	return errors.Join(err, tx.PutUser(u), tx.Record(entry))
}

// Vouched is a sign-in that an identity provider vouches for.
type Vouched struct {
	UserID string
	Strong bool       // the provider says that it asked for more than one factor
	Device string     // cookie tfa_key, "" if there is none
	Mark   string     // of a known device, "" if there is none
	Agent  string     // what the client says that it is
	From   netip.Addr // of the client
}

// Vouched signs a user in without a password. Who needs a second factor that the provider did not
// ask for gets a ticket, as from Authenticate, and no session. An account's administrators choose
// its provider, so that it cannot vouch for those of the service: superusers and staff sign in by
// password. Whoever may not sign in with a password may not this way either: that is a 404.
func (d *Service) Vouched(in Vouched) (o Opened, t Ticket, err error) {
	err = d.store.Update(func(tx *store.Tx) error {
		o, t = Opened{}, Ticket{}
		u, home, err := userAndHome(tx, in.UserID)
		if errors.Is(err, identity.ErrNotFound) {
			return errUnknown
		} else if err != nil {
			return err
		}
		if bool(u.IsSuperuser || u.IsStaff) || u.Disabled() || !home.Is(model.StatusActive) ||
			!allowed(home, in.From) || !model.Within(u.AccessPeriod, u.Timezone, tx.Now()) {
			return errUnknown
		}
		if !in.Strong && d.needsCode(u, home, in.Device) {
			t, err = d.begin(tx, u, true)
			return err
		}
		mark := remember(&u, in.Mark, tx.Now())
		o, err = d.Open(tx, u, home, Origin{in.From, in.Agent})
		o.Mark = mark
		return err
	})
	return o, t, err
}

// needsCode says whether a user who signs in at a device must give a code: by their own choice or
// the account's, unless the device is trusted.
func (d *Service) needsCode(u model.User, home model.Account, device string) bool {
	return bool(u.IsFactorEnabled || home.IsFactorForced) && !d.trusted(u, device)
}

// maxBegun bounds how many sign-ins of a user may be under way.
const maxBegun = 20

// begin makes the ticket of a sign-in. A user may have several under way, at two devices or in two
// programs; wrong codes are counted for the user and not for the ticket, so that more tickets give
// no more guesses.
func (d *Service) begin(tx *store.Tx, u model.User, needed bool) (Ticket, error) {
	out, good := Ticket{Token: identity.NewTicket()}, loginTime
	if needed {
		masked := maskedWays(u)
		out.Factors, good = &masked, factorTime
	}
	return out, errors.Join(dropOldest(tx, u.ID),
		ticket(tx, out.Token, model.PurposeLogin, u, good, func(t *model.Ticket) { t.Factor = needed }))
}

// dropOldest drops the oldest sign-ins under way of a user so that another can begin.
func dropOldest(tx *store.Tx, user string) error {
	list, err := tx.TicketsOf(user)
	list = slices.DeleteFunc(list, func(t model.Ticket) bool { return t.Purpose != model.PurposeLogin })
	slices.SortFunc(list, func(a, b model.Ticket) int { return a.Created.Compare(b.Created) })
	for i := 0; i <= len(list)-maxBegun; i++ {
		err = errors.Join(err, tx.DeleteTicket(list[i].Hash))
	}
	return err
}

// Open makes a session for a user without asking for a password, in a transaction of the caller's:
// after a validated account, a new password, an assertion of an identity provider.
func (d *Service) Open(tx *store.Tx, u model.User, home model.Account, from Origin) (Opened, error) {
	key := d.cluster + "~" + identity.NewToken(32)
	s := model.Session{Hash: identity.HashToken(key), UserID: u.ID, ActiveAccount: home.ID, Created: tx.Now(),
		Seen: tx.Now(), From: model.Address(from.Addr), Agent: model.Name(from.Agent)}
	if home.SessionDuration > 0 {
		s.Expires = tx.Now().Add(time.Duration(home.SessionDuration) * time.Minute)
	}
	u.LastLogin = model.Stamp(tx.Now())
	err := errors.Join(tx.PutSession(s), tx.PutUser(u), tx.Record(mine(u, model.AuditSignIn, from.Addr)))
	return Opened{Key: key, User: u, Home: home, Session: s}, err
}

func notFound(err error) bool { return errors.Is(err, identity.ErrNotFound) }

func userAndHome(tx *store.Tx, id string) (model.User, model.Account, error) {
	u, err := tx.User(id)
	if err != nil {
		return u, model.Account{}, err
	}
	a, err := tx.Account(u.OwnerAccountID)
	return u, a, err
}
