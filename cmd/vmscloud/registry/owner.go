package registry

import (
	"context"
	"fmt"

	"vmsbridge/uplink/vms"
)

// HasActor says whether an account has an actor. Cameras and bridges must have been registered. An
// id of another kind that the account has not used yet may be used: it is taken with its first
// event.
func (r *Registry) HasActor(_ context.Context, account string, a vms.Actor) (bool, error) {
	if a.Type == "account" {
		return a.ID == account, nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok := r.look(account).actors[a.ID]
	if !ok && a.Type == vms.ActorCamera {
		return false, r.refusalLocked(account, a.ID)
	}
	if !ok {
		return a.Type != vms.ActorBridge, nil
	}
	return known.Type == a.Type, nil
}

// Owns says whether an actor is known to be an account's.
func (r *Registry) Owns(account string, a vms.Actor) bool {
	if a.Type == "account" {
		return a.ID == account
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok := r.look(account).actors[a.ID]
	return ok && known.Type == a.Type
}

// Alone says whether there is one account at most that has anything here.
func (r *Registry) Alone() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.accounts) <= 1
}

// Claim notes the actor of an event, if the account has none of its id, and says whether it is the
// account's now. One that is neither camera nor bridge becomes the bridge's that reported of it, ""
// for none.
func (r *Registry) Claim(account string, a vms.Actor, bridge string) (bool, error) {
	if has, err := r.HasActor(context.Background(), account, a); !has || err != nil {
		return false, err
	}
	if a.Type == "account" {
		return true, nil
	}
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	next, ok := r.look(account).actors[a.ID]
	switch {
	case ok && next.Type != a.Type:
		return false, nil
	case ok && (bridge == "" || next.Bridge != "" || a.Type == vms.ActorCamera || a.Type == vms.ActorBridge):
		return true, nil
	case !ok && len(r.look(account).actors) >= r.Limits.known():
		return false,
			limited(fmt.Sprintf("The account has %d devices and others with events, all that are remembered here; "+
				"the operator can raise --account-cameras",
				len(r.look(account).actors)))
	case !ok:
		next = Actor{ID: a.ID, Type: a.Type, Account: account, Created: r.now().UTC()}
	}
	next.Bridge = bridge
	err := r.keep(Bridge{}, next)
	return err == nil, err
}

// Forget removes the bridges and actors of an account that was deleted.
func (r *Registry) Forget(account string) error {
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	if err := r.erase(account); err != nil {
		return fmt.Errorf("forget account: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.look(account).bridges {
		r.dropLocked(account, id)
	}
	delete(r.accounts, account)
	return nil
}
