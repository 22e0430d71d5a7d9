package web

import (
	"context"
	"errors"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
)

// deleteAccount is DELETE /g/account. One that has sub-accounts stays. Its users and devices go
// with it, and the events of its devices, once the entry about it is exported as an event. What
// is told of that stands in the trail of the parent, or of the superuser's own account where there
// is no parent: the account's own trail can be listed by superusers only.
func (c *call) deleteAccount() (any, error) {
	id, bad := c.id()
	err := c.update(func(tx *store.Tx, me session.Caller) error {
		if id == "" {
			return bad
		}
		a, place, err := findAccount(tx, me, id)
		if err != nil {
			return err
		}
		if !model.MayDeleteAccount(me.Rule(), place) {
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
			return api.NewError(api.CodeArguments, "HasSubAccounts", "the account has sub-accounts; delete them first")
		} else if err != nil {
			return err
		}
		where := me.Home.ID
		if a.Child() {
			where = a.OwnerAccountID
		}
		gone := func(kind, target, name string) error {
			e := me.Entry(where, model.AuditDelete, kind, target, name)
			e.Gone = kind != model.KindAccount
			return tx.Record(e)
		}
		for _, d := range devices {
			err = errors.Join(err, gone(d.Kind, d.ID, d.Name)) // the kinds of devices have the trail's names
		}
		for _, u := range users {
			err = errors.Join(err, gone(model.KindUser, u.ID, u.Email))
		}
		if me.Active.ID == a.ID { // whoever deletes the account that they are in is at home again
			s := me.Session
			s.ActiveAccount = me.Home.ID
			err = errors.Join(err, tx.PutSession(s))
		}
		return errors.Join(err, gone(model.KindAccount, a.ID, a.Name))
	})
	return nil, err
}

// knows finds the devices of an account, and of its sub-accounts, whose devices its users may be
// given.
func (c *call) knows(tx *store.Tx, a model.Account) (func(string) bool, error) {
	accounts := []model.Account{a}
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
