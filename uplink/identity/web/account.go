package web

import (
	"context"
	"errors"
	"slices"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/audit"
	letters "vmsbridge/uplink/identity/post"
	"vmsbridge/uplink/identity/record"
	"vmsbridge/uplink/identity/rule"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/status"
	"vmsbridge/uplink/identity/store"
)

var errEmailTaken = status.New(status.Conflict, "EmailExists", "the address is registered already")

// id is the parameter of calls about one thing. An id that is missing is a 400 that waits for codes that stand above it.
func (c *call) id(others ...string) (string, error) {
	id, err := c.set.Text("id")
	if err == nil {
		err = c.expect(append(others, "id")...)
	}
	if err == nil && id == "" {
		err = status.New(status.Arguments, "MissingArgument", "missing arguments: id")
	}
	return id, err
}

// target finds the account that a call is about and where it is. The error is 404 or a fault.
func target(tx *store.Tx, me session.Caller, id string) (record.Account, rule.Place, error) {
	a, err := tx.Account(id)
	if err != nil {
		return a, rule.Elsewhere, found(err, errNoAccount)
	}
	return a, me.Place(a), nil
}

// getAccount is GET /g/account. Without the right to edit the account, its secrets are left out.
func (c *call) getAccount() error {
	id, bad := c.id()
	var shown record.Account
	err := c.view(func(tx *store.Tx, me session.Caller) error {
		if id == "" {
			return bad
		}
		a, place, err := target(tx, me, id)
		if err != nil {
			return err
		}
		ok, full := rule.GetAccount(me.Rule(), place)
		if !ok {
			return errPrivilege
		}
		shown = a.Shown(tx.Now(), full)
		return bad
	})
	if err != nil {
		return err
	}
	return c.ok(shown)
}

// putAccount is PUT /g/account: a sub-account of the caller's own account, with its first user unless that is not wanted.
func (c *call) putAccount() error {
	change, bad := record.AccountFields.Parse(c.set, record.Create)
	var made record.Account
	var mails []letters.Letter
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
		return errors.Join(err, tx.Record(me.Entry(made.ID, audit.Create, audit.KindAccount, made.ID, made.Name)))
	})
	if err != nil {
		return err
	}
	c.desk.Send(mails...)
	return c.ok(map[string]string{"id": made.ID})
}

// taken is the 409 for an address in a parameter that somebody has. Who may not make what is asked for is not told.
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
func (c *call) newAccount(tx *store.Tx, me session.Caller, change record.Change) (a record.Account, forbidden, err error) {
	a = record.NewAccount()
	a.OwnerAccountID, a.Timezone, a.Inner.Realm = me.Home.ID, record.DefaultZone, me.Home.Inner.Realm
	rest, err := change.Without(struct{}{}) // a copy to take things from
	if err != nil {
		return a, nil, err
	}
	var ignored record.Flag
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
	if !rule.CreateAccount(me.Rule(), me.Place(parent), parent) {
		return a, errPrivilege, nil
	}
	for _, row := range rest.Rows() {
		if row.Name != "owner_account_id" && !rule.AccountField(me.Rule(), rule.Child, row, a) {
			return a, errPrivilege, nil
		}
	}
	return a, nil, alertMode(a)
}

// alertMode checks the one thing that two fields say together.
func alertMode(a record.Account) error {
	if a.ActiveAlertMode != "" && !slices.Contains(a.AlertMode, a.ActiveAlertMode) {
		return status.Badf("active_alert_mode must be empty or one of alert_mode")
	}
	return nil
}

// firstUser makes the account superuser of a new account from its contact, unless the call says not to.
func (c *call) firstUser(tx *store.Tx, me session.Caller, a record.Account, change record.Change) ([]letters.Letter, error) {
	var without, notAdmin record.Flag
	_, err1 := change.Take("is_without_initial_user", &without)
	_, err2 := change.Take("is_initial_user_not_admin", &notAdmin)
	if err := errors.Join(err1, err2); err != nil || bool(without) {
		return nil, err
	}
	u := record.NewUser()
	u.OwnerAccountID, u.FirstName, u.LastName, u.Email, u.Timezone = a.ID, a.ContactFirstName, a.ContactLastName, a.ContactEmail, a.Timezone
	u.IsAccountSuperuser = !notAdmin
	u, err := tx.AddUser(u.Settled())
	if err != nil {
		return nil, err
	}
	kind := letters.UserCreated
	if a.Is(record.StatusPending) {
		kind = letters.Registration
	}
	var out []letters.Letter
	if a.Is(record.StatusActive) || a.Is(record.StatusPending) {
		l, err := c.desk.Invite(tx, u, a, kind)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, tx.Record(me.Entry(a.ID, audit.Create, audit.KindUser, u.ID, u.Email))
}

// postAccount is POST /g/account.
func (c *call) postAccount() error {
	id, badID := c.id(c.set.Names()...)
	change, bad := record.AccountFields.Parse(c.set, record.Update, "id")
	err := c.update(func(tx *store.Tx, me session.Caller) error {
		if id == "" {
			return badID
		}
		a, place, err := target(tx, me, id)
		if err != nil {
			return err
		}
		shown := a.Shown(tx.Now(), true)
		rest, err := change.Without(shown)
		if err != nil {
			return err
		}
		if !mayChangeAccount(me, place, a, rest) {
			return errPrivilege
		}
		if err := c.last(bad, badID, change.Locked(shown)); err != nil {
			return err
		}
		names := rest.Names()
		if a, err = c.changeAccount(tx, me, a, rest); err != nil || len(names) == 0 {
			return err
		}
		entry := me.Entry(a.ID, audit.Update, audit.KindAccount, a.ID, a.Name)
		entry.Fields = names
		return errors.Join(tx.PutAccount(a), tx.Record(entry))
	})
	if err != nil {
		return err
	}
	return c.ok(map[string]string{"id": id})
}

// mayChangeAccount says whether the caller may make a change to an account. One who may change nothing there may not make
// an empty change either.
func mayChangeAccount(me session.Caller, place rule.Place, a record.Account, change record.Change) bool {
	who, some := me.Rule(), false
	for _, row := range record.AccountFields {
		some = some || row.Use&record.Update != 0 && rule.AccountField(who, place, row, a)
	}
	for _, row := range change.Rows() {
		if !rule.AccountField(who, place, row, a) {
			return false
		}
	}
	return some
}

// changeAccount applies a change, acting on those fields that act.
func (c *call) changeAccount(tx *store.Tx, me session.Caller, a record.Account, change record.Change) (record.Account, error) {
	var shares [][]string
	var perms record.Object
	var revoke record.Flag
	withShares, err1 := change.Take("camera_shares", &shares)
	withPerms, err2 := change.Take("camera_share_perms", &perms)
	_, err3 := change.Take("is_revoke_admins", &revoke)
	if err := errors.Join(err1, err2, err3); err != nil {
		return a, err
	}
	if withShares != withPerms {
		return a, status.Badf("camera_shares and camera_share_perms must be updated together")
	}
	if withShares {
		known, err := c.knows(tx, a)
		if err != nil {
			return a, err
		}
		if a, err = rule.Shares(a, shares, perms, known, func(email string) string {
			u, err := tx.UserByEmail(email)
			if err != nil || !u.Proven() {
				return ""
			}
			return u.OwnerAccountID
		}); err != nil {
			return a, err
		}
	}
	if err := change.Apply(&a); err != nil {
		return a, err
	}
	if err := alertMode(a); err != nil {
		return a, err
	}
	if revoke {
		return a, revokeAdmins(tx, me, a)
	}
	return a, nil
}

// revokeAdmins takes the permissions of administrators from all users of an account but the caller, who could not undo
// it, and superusers.
func revokeAdmins(tx *store.Tx, me session.Caller, a record.Account) error {
	users, err := tx.UsersOf(a.ID)
	if err != nil {
		return err
	}
	for _, u := range users {
		admin := bool(u.IsAccountSuperuser || u.IsUserAdmin || u.IsDeviceAdmin || u.IsLayoutAdmin || u.IsEditAccount || u.IsEditUsers ||
			u.IsEditAdminUsers || u.IsEditAllUsers || u.IsEditAllAndAdd)
		if u.ID == me.User.ID || rule.KindOf(u) == rule.Staff || !admin {
			continue
		}
		u.IsAccountSuperuser, u.IsUserAdmin, u.IsDeviceAdmin, u.IsLayoutAdmin = false, false, false, false
		u.IsEditAccount, u.IsEditUsers, u.IsEditAdminUsers, u.IsEditAllUsers, u.IsEditAllAndAdd = false, false, false, false, false
		entry := me.Entry(a.ID, audit.Update, audit.KindUser, u.ID, u.Email)
		entry.Fields = []string{"is_account_superuser"}
		if err := errors.Join(tx.PutUser(u), tx.Record(entry)); err != nil {
			return err
		}
	}
	return nil
}

// deleteAccount is DELETE /g/account. One that has sub-accounts stays. Its users and devices go with it, and the events of
// its devices, once the entry about it is carried on (audit/pump). What is told of that stands in the trail of the parent,
// or of the superuser's own account where there is no parent: the account's own trail can be listed by superusers only.
func (c *call) deleteAccount() error {
	id, bad := c.id()
	err := c.update(func(tx *store.Tx, me session.Caller) error {
		if id == "" {
			return bad
		}
		a, place, err := target(tx, me, id)
		if err != nil {
			return err
		}
		if !rule.DeleteAccount(me.Rule(), place) {
			return errPrivilege
		}
		if bad != nil {
			return bad
		}
		users, err := tx.UsersOf(a.ID)
		if err != nil {
			return err
		}
		devices, err := c.o.Devices.Devices(context.WithoutCancel(c.r.Context()), a.ID)
		if err != nil {
			return err
		}
		if err := tx.DeleteAccount(a.ID); errors.Is(err, identity.ErrExists) {
			return status.New(status.Arguments, "HasSubAccounts", "the account has sub-accounts; delete them first")
		} else if err != nil {
			return err
		}
		where := me.Home.ID
		if a.Child() {
			where = a.OwnerAccountID
		}
		gone := func(kind, target, name string) error {
			e := me.Entry(where, audit.Delete, kind, target, name)
			e.Gone = kind != audit.KindAccount
			return tx.Record(e)
		}
		for _, d := range devices {
			err = errors.Join(err, gone(d.Kind, d.ID, d.Name)) // the kinds of devices have the trail's names
		}
		for _, u := range users {
			err = errors.Join(err, gone(audit.KindUser, u.ID, u.Email))
		}
		if me.Active.ID == a.ID { // whoever deletes the account that they are in is at home again
			s := me.Session
			s.ActiveAccount = me.Home.ID
			err = errors.Join(err, tx.PutSession(s))
		}
		return errors.Join(err, gone(audit.KindAccount, a.ID, a.Name))
	})
	if err != nil {
		return err
	}
	return c.answer(200, nil)
}

// knows finds the devices of an account, and of its sub-accounts, whose devices its users may be given.
func (c *call) knows(tx *store.Tx, a record.Account) (func(string) bool, error) {
	accounts := []record.Account{a}
	if a.IsMaster {
		children, err := tx.Children(a.ID)
		if err != nil {
			return nil, err
		}
		accounts = append(accounts, children...)
	}
	known := map[string]bool{}
	for _, a := range accounts {
		devices, err := c.o.Devices.Devices(context.WithoutCancel(c.r.Context()), a.ID)
		if err != nil {
			return nil, err
		}
		for _, d := range devices {
			known[d.ID] = true
		}
	}
	return func(id string) bool { return known[id] }, nil
}
