package registry

import (
	"context"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/uplink/vms"
)

// HasActor says whether an account has an actor. Cameras and bridges must have been registered. An id of another kind that
// nobody has used yet is anyone's: it becomes the account's with its first event.
func (r *Registry) HasActor(_ context.Context, account string, a vms.Actor) (bool, error) {
	if a.Type == "account" {
		return a.ID == account, nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok := r.actors[a.ID]
	if !ok {
		return a.Type != vms.ActorCamera && a.Type != vms.ActorBridge, nil
	}
	return known.Account == account && known.Type == a.Type, nil
}

// Owns says whether an actor is known to be an account's.
func (r *Registry) Owns(account string, a vms.Actor) bool {
	if a.Type == "account" {
		return a.ID == account
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok := r.actors[a.ID]
	return ok && known.Account == account && known.Type == a.Type
}

// Claim makes the actor of an event the account's, if nobody has it, and says whether the account has it now.
func (r *Registry) Claim(account string, a vms.Actor) (bool, error) {
	if has, err := r.HasActor(context.Background(), account, a); !has || err != nil {
		return false, err
	}
	if a.Type == "account" {
		return true, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.actors[a.ID]; ok {
		return known.Account == account && known.Type == a.Type, nil
	}
	next := Actor{ID: a.ID, Type: a.Type, Account: account, Created: r.now().UTC()}
	if err := r.save(Bridge{}, map[string]Actor{a.ID: next}); err != nil {
		return false, err
	}
	r.actors[a.ID] = next
	return true, nil
}

// Forget removes the bridges and actors of an account that was deleted, so that their ids are free again.
func (r *Registry) Forget(account string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var bridges, actors []string
	for id, b := range r.bridges {
		if b.Account == account {
			bridges = append(bridges, id)
		}
	}
	for id, a := range r.actors {
		if a.Account == account {
			actors = append(actors, id)
		}
	}
	err := r.db.Update(func(tx *bolt.Tx) error {
		var err error
		for _, id := range bridges {
			err = errors.Join(err, tx.Bucket(bucketBridges).Delete([]byte(id)))
		}
		for _, id := range actors {
			err = errors.Join(err, tx.Bucket(bucketActors).Delete([]byte(id)))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("forget account: %w", err)
	}
	for _, id := range bridges {
		r.dropLocked(id)
	}
	for _, id := range actors {
		delete(r.actors, id)
	}
	return nil
}
