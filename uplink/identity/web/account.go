package web

import (
	"errors"

	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
)

var errEmailTaken = api.NewError(api.CodeConflict, "EmailExists", "the address is registered already")

// id is the parameter of calls about one thing. An id that is missing is a 400 that waits for codes
// that stand above it.
func (c *call) id(others ...string) (string, error) {
	id, err := c.set.Text("id")
	if err == nil {
		err = c.expect(append(others, "id")...)
	}
	if err == nil && id == "" {
		err = api.NewError(api.CodeArguments, "MissingArgument", "missing arguments: id")
	}
	return id, err
}

// findAccount finds the account that a call is about and where it is. The error is 404 or a fault.
func findAccount(tx *store.Tx, me session.Caller, id string) (model.Account, model.Place, error) {
	a, err := tx.Account(id)
	if err != nil {
		return a, model.OtherAccount, found(err, errNoAccount)
	}
	return a, me.Place(a), nil
}

// getAccount is GET /g/account. Without the right to edit the account, its secrets are left out.
func (c *call) getAccount() (any, error) {
	id, bad := c.id()
	var shown model.Account
	err := c.view(func(tx *store.Tx, me session.Caller) error {
		if id == "" {
			return bad
		}
		a, place, err := findAccount(tx, me, id)
		if err != nil {
			return err
		}
		ok, full := model.MayReadAccount(me.Rule(), place)
		if !ok {
			return errPrivilege
		}
		shown = a.Shown(tx.Now(), full)
		return bad
	})
	return shown, err
}

// postAccount is POST /g/account.
func (c *call) postAccount() (any, error) {
	id, badID := c.id(c.set.Names()...)
	change, bad := model.AccountFields.Parse(c.set, model.UseUpdate, "id")
	err := c.update(func(tx *store.Tx, me session.Caller) error {
		if id == "" {
			return badID
		}
		a, place, err := findAccount(tx, me, id)
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
		entry := me.Entry(a.ID, model.AuditUpdate, model.KindAccount, a.ID, a.Name)
		entry.Fields = names
		return errors.Join(tx.PutAccount(a), tx.Record(entry))
	})
	return map[string]string{"id": id}, err
}

// mayChangeAccount says whether the caller may make a change to an account. One who may change
// nothing there may not make an empty change either.
func mayChangeAccount(me session.Caller, place model.Place, a model.Account, change model.Change) bool {
	who, some := me.Rule(), false
	for _, row := range model.AccountFields {
		some = some || row.Use&model.UseUpdate != 0 && model.MaySetAccountField(who, place, row, a)
	}
	for _, row := range change.Rows() {
		if !model.MaySetAccountField(who, place, row, a) {
			return false
		}
	}
	return some
}

// changeAccount applies a change, acting on those fields that act.
func (c *call) changeAccount(tx *store.Tx, me session.Caller, a model.Account, change model.Change) (model.Account,
	error) {
	var shares [][]string
	var perms model.Object
	var revoke model.Flag
	withShares, err1 := change.Take("camera_shares", &shares)
	withPerms, err2 := change.Take("camera_share_perms", &perms)
	_, err3 := change.Take("is_revoke_admins", &revoke)
	if err := errors.Join(err1, err2, err3); err != nil {
		return a, err
	}
	if withShares != withPerms {
		return a, api.Badf("camera_shares and camera_share_perms must be updated together")
	}
	if withShares {
		known, err := c.knows(tx, a)
		if err != nil {
			return a, err
		}
		if a, err = model.ApplyShares(a, shares, perms, known, func(email string) string {
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

// revokeAdmins takes the permissions of administrators from all users of an account but the caller,
// who could not undo it, and superusers.
func revokeAdmins(tx *store.Tx, me session.Caller, a model.Account) error {
	users, err := tx.UsersOf(a.ID)
	if err != nil {
		return err
	}
	for _, u := range users {
		admin := bool(u.IsAccountSuperuser || u.IsUserAdmin || u.IsDeviceAdmin || u.IsLayoutAdmin ||
			u.IsEditAccount || u.IsEditUsers ||
			u.IsEditAdminUsers || u.IsEditAllUsers || u.IsEditAllAndAdd)
		if u.ID == me.User.ID || model.TargetKindOf(u) == model.Staff || !admin {
			continue
		}
		u.IsAccountSuperuser, u.IsUserAdmin, u.IsDeviceAdmin, u.IsLayoutAdmin = false, false, false, false
		u.IsEditAccount, u.IsEditUsers, u.IsEditAdminUsers, u.IsEditAllUsers, u.IsEditAllAndAdd = false, false, false,
			false, false
		entry := me.Entry(a.ID, model.AuditUpdate, model.KindUser, u.ID, u.Email)
		entry.Fields = []string{"is_account_superuser"}
		if err := errors.Join(tx.PutUser(u), tx.Record(entry)); err != nil {
			return err
		}
	}
	return nil
}
