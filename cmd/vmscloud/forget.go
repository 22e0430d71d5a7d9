package main

import (
	"errors"
	"fmt"
	"log/slog"

	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/storage/guard"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

// forget removes the events and devices of an account that was deleted; its users and tokens went
// with it. The events go first: whose they are is known by the devices. Done again, it does no
// harm.
func (l *ledger) forget(account string) error {
	n, err := l.Forget(func(a vms.Actor) bool { return accountOf(a) == account })
	if err == nil {
		err = l.registry.Forget(account)
	}
	if err == nil {
		l.usage.drop(account)
		l.log.Info("the events and devices of a deleted account are removed", "account", account, "events", n)
	}
	return err
}

// forgetOrphans forgets what accounts have that are not there any more: what a bridge brought in
// the moment in which its account was deleted.
func (l *ledger) forgetOrphans(ids *store.Store) error {
	there, err := ids.Accounts()
	if err != nil {
		return err
	}
	left := l.registry.Accounts()
	for _, a := range there {
		delete(left, a.ID)
	}
	for account := range left {
		err = errors.Join(err, l.forget(account))
	}
	if err != nil {
		return fmt.Errorf("forget deleted accounts: %w", err)
	}
	return nil
}

// adopt makes accounts anew that have bridges or cameras and are not in the identity file, if that
// was found damaged: with their ids, so that their events are theirs, and without users.
func adopt(ids *store.Store, reg *registry.Registry, log *slog.Logger) error {
	if ids.File() == nil {
		return nil // PostgreSQL loses no part of itself
	}
	if len(guard.Asides(ids.File().Path())) == 0 && len(ids.File().Damage()) == 0 {
		return nil // an account that is not there was deleted
	}
	for id := range reg.Accounts() {
		a := model.NewAccount()
		a.ID, a.Name, a.Status = id, id, model.Texts{model.StatusActive}
		switch _, err := ids.CreateAccount(a); {
		case err == nil:
			log.Error("an account was lost with the identity file; it was made anew without users", "account", id,
				"hint", "vmscloud restore brings a backup back")
		case !errors.Is(err, identity.ErrExists):
			return fmt.Errorf("make the account %s anew: %w", id, err)
		}
	}
	return nil
}
