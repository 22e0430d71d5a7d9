package web

import (
	"errors"
	"slices"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
)

// putAccount is PUT /g/account: a sub-account of the caller's own account, with its first user
// unless that is not wanted.
func (c *call) putAccount() (any, error) {
	change, bad := model.AccountFields.Parse(c.set, model.UseCreate)
	var made model.Account
	var mails []notify.Message
	err := c.update(func(tx *store.Tx, me session.Caller) error {
		a, forbidden, err := c.newAccount(tx, me, change)
		if err != nil {
			return err
		}
		if err := c.last(bad, forbidden, c.taken(tx, "contact_email", forbidden)); err != nil {
			return err
		}
		if made, err = tx.AddAccount(a); err != nil {
			return err
		}
		mails, err = c.firstUser(tx, me, made, change)
		return errors.Join(err, tx.Record(me.Entry(made.ID, model.AuditCreate, model.KindAccount, made.ID, made.Name)))
	})
	if err != nil {
		return nil, err
	}
	c.sessions.Send(mails...)
	return map[string]string{"id": made.ID}, nil
}

// taken is the 409 for an address in a parameter that somebody has. Who may not make what is asked
// for is not told.
func (c *call) taken(tx *store.Tx, name string, forbidden error) error {
	email, err := c.set.Text(name)
	if err != nil || forbidden != nil {
		return err
	}
	if _, err = tx.UserByEmail(email); errors.Is(err, identity.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	return errEmailTaken
}

// newAccount is the account that PUT asks for. forbidden is the 403 if the caller may not have it.
func (c *call) newAccount(tx *store.Tx, me session.Caller, change model.Change) (a model.Account, forbidden,
	err error) {
	a = model.NewAccount()
	a.OwnerAccountID, a.Timezone, a.Inner.Realm = me.Home.ID, model.DefaultZone, me.Home.Inner.Realm
	rest, err := change.Without(struct{}{}) // a copy to take things from
	if err != nil {
		return a, nil, err
	}
	var ignored model.Flag
	_, err1 := rest.Take("is_without_initial_user", &ignored)
	_, err2 := rest.Take("is_initial_user_not_admin", &ignored)
	if err := errors.Join(err1, err2, rest.Apply(&a)); err != nil {
		return a, nil, err
	}
	if a.OwnerAccountID == "" {
		a.OwnerAccountID = me.Home.ID
	}
	parent, err := tx.Account(a.OwnerAccountID)
	if errors.Is(err, identity.ErrNotFound) {
		return a, errPrivilege, nil // as for one that the caller may not know of
	} else if err != nil {
		return a, nil, err
	}
	if !model.MayCreateAccount(me.Rule(), me.Place(parent), parent) {
		return a, errPrivilege, nil
	}
	for _, row := range rest.Rows() {
		if row.Name != "owner_account_id" && !model.MaySetAccountField(me.Rule(), model.ChildAccount, row, a) {
			return a, errPrivilege, nil
		}
	}
	return a, nil, alertMode(a)
}

// alertMode checks the one thing that two fields say together.
func alertMode(a model.Account) error {
	if a.ActiveAlertMode != "" && !slices.Contains(a.AlertMode, a.ActiveAlertMode) {
		return api.Badf("active_alert_mode must be empty or one of alert_mode")
	}
	return nil
}

// firstUser makes the account superuser of a new account from its contact, unless the call says not
// to.
func (c *call) firstUser(tx *store.Tx, me session.Caller, a model.Account, change model.Change) ([]notify.Message,
	error) {
	var without, notAdmin model.Flag
	change, err := change.Without(struct{}{}) // a copy to take things from
	if err != nil {
		return nil, err
	}
	_, err1 := change.Take("is_without_initial_user", &without)
	_, err2 := change.Take("is_initial_user_not_admin", &notAdmin)
	if err := errors.Join(err1, err2); err != nil || bool(without) {
		return nil, err
	}
	u := model.NewUser()
	u.OwnerAccountID, u.FirstName, u.LastName, u.Email, u.Timezone = a.ID, a.ContactFirstName, a.ContactLastName,
		a.ContactEmail, a.Timezone
	u.IsAccountSuperuser = !notAdmin
	if u, err = tx.AddUser(u.Settled()); err != nil {
		return nil, err
	}
	kind := notify.UserCreated
	if a.Is(model.StatusPending) {
		kind = notify.Registration
	}
	var out []notify.Message
	if a.Is(model.StatusActive) || a.Is(model.StatusPending) {
		l, err := c.sessions.Invite(tx, u, a, kind)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, tx.Record(me.Entry(a.ID, model.AuditCreate, model.KindUser, u.ID, u.Email))
}
