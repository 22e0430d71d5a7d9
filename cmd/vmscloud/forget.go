package main

import (
	"errors"
	"fmt"

	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

// forget removes the events and devices of an account that was deleted; its users and tokens went with it. The events go
// first: whose they are is known by the devices. Done again, it does no harm.
func (l *ledger) forget(account string) error {
	n, err := l.Forget(func(a vms.Actor) bool { return l.owns(account, a) })
	if err == nil {
		err = l.registry.Forget(account)
	}
	if err == nil {
		l.log.Info("the events and devices of a deleted account are removed", "account", account, "events", n)
	}
	return err
}

// forgetOrphans forgets what accounts have that are not there any more: what a bridge brought in the moment in which its
// account was deleted.
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
