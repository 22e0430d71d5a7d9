package session

import (
	"errors"
	"net/netip"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

// Caller is who a request with a good session comes from.
type Caller struct {
	User    model.User
	Home    model.Account // the user's own
	Active  model.Account // the one that the session is in
	Session model.Session
	From    netip.Addr
}

// Rule is the caller as the rules see it.
func (c Caller) Rule() model.Caller { return model.CallerOf(c.User, c.Home) }

// Place is where an account is, seen by the caller.
func (c Caller) Place(a model.Account) model.Place { return model.PlaceOf(c.Home, a) }

// Entry begins an entry of the trail about something in an account.
func (c Caller) Entry(account string, action model.AuditAction, kind, target, name string) model.AuditEntry {
	return model.AuditEntry{AccountID: account, By: c.User.ID, ByName: c.User.Email, From: model.Address(c.From),
		Action: action, Kind: kind, Target: target, Name: name}
}

// seenEvery bounds how often the time of a session's last request is written; between that it is in
// memory, and lost if the program ends then.
const seenEvery = 30 * time.Second

// Caller finds whose session a key is. Every reason why it is not good is the same 401: unknown,
// ended, expired, unused for too long, user disabled or gone, account not active, outside the
// user's hours or the account's addresses.
func (d *Service) Caller(key string, from netip.Addr) (Caller, error) {
	if key == "" {
		return Caller{}, errSession
	}
	var c Caller
	var written time.Time
	err := d.store.View(func(tx *store.Tx) error {
		var err error
		if c, err = d.CallerIn(tx, key, from); err == nil {
			written, err = tx.SeenWritten(c.Session.Hash)
		}
		return err
	})
	if err != nil {
		return Caller{}, err
	}
	now, every := d.store.Now(), seenEvery
	if idle := time.Duration(c.Home.InactiveSessionTimeout) * time.Second; idle > 0 {
		every = min(every, idle/4)
	}
	if now.Sub(written) < every {
		d.store.Saw(c.Session.Hash, now)
		return c, nil
	}
	return c, d.store.Update(func(tx *store.Tx) error {
		s, err := tx.Session(c.Session.Hash)
		if errors.Is(err, identity.ErrNotFound) {
			return errSession // it was ended in between
		} else if err != nil {
			return err
		}
		s.Seen = tx.Now()
		c.Session = s
		return tx.PutSession(s)
	})
}

// CallerIn is Caller within a transaction: what it says stays true until that ends. It does not
// note the request.
func (d *Service) CallerIn(tx *store.Tx, key string, from netip.Addr) (Caller, error) {
	c := Caller{From: from}
	var err error
	if c.Session, err = tx.Session(identity.HashToken(key)); err == nil {
		c.User, c.Home, err = userAndHome(tx, c.Session.UserID)
	}
	if err == nil {
		c.Active, err = tx.Account(c.Session.ActiveAccount)
	}
	if errors.Is(err, identity.ErrNotFound) {
		return Caller{}, errSession
	} else if err != nil {
		return Caller{}, err
	}
	idle := time.Duration(c.Home.InactiveSessionTimeout) * time.Second
	if !c.Session.Live(tx.Now(), idle) || c.User.Disabled() || !c.Home.Is(model.StatusActive) ||
		!allowed(c.Home, from) ||
		!model.Within(c.User.AccessPeriod, c.User.Timezone, tx.Now()) || !model.MaySwitch(c.Rule(), c.Place(c.Active)) {
		return Caller{}, errSession
	}
	return c, nil
}

// End ends a session. Whether there was one does not matter.
func (d *Service) End(c Caller) error {
	return d.store.Update(func(tx *store.Tx) error {
		return errors.Join(tx.DeleteSession(c.Session.Hash), tx.Record(mine(c.User, model.AuditSignOut, c.From)))
	})
}

// Switch moves a session into an account, "" for the user's own. The error is 404 for an account
// that the caller may not enter as for one that does not exist.
func (d *Service) Switch(c Caller, account string) (Caller, error) {
	if account == "" {
		account = c.Home.ID
	}
	err := d.store.Update(func(tx *store.Tx) error {
		a, err := tx.Account(account)
		if errors.Is(err, identity.ErrNotFound) || err == nil && !model.MaySwitch(c.Rule(), c.Place(a)) {
			return api.NewError(api.CodeNotFound, "AccountNotFound", "there is no such account")
		} else if err != nil {
			return err
		}
		s, err := tx.Session(c.Session.Hash)
		if errors.Is(err, identity.ErrNotFound) {
			return errSession
		} else if err != nil {
			return err
		}
		s.ActiveAccount = a.ID
		c.Active, c.Session = a, s
		return errors.Join(tx.PutSession(s), tx.Record(c.Entry(a.ID, model.AuditSwitch, model.KindAccount, a.ID,
			a.Name)))
	})
	return c, err
}
