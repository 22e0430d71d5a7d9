package registry

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// Register takes in what a bridge says of itself. Ids are the account's own: what other accounts
// call theirs is nobody's concern. A bridge that another credential has registered and a camera
// that such a bridge has are conflicts, until that credential is revoked or expires, or an operator
// releases the bridge or the camera. Cameras beyond what the account may have are left out: see
// Refused.
func (r *Registry) Register(_ context.Context, p identity.Principal, reg vms.Registration) error {
	most, why, err := r.most(p.AccountID, reg) // not under the lock, as below
	if err != nil {
		return err
	}
	for {
		r.mu.RLock()
		before := r.claimsLocked(p, reg)
		r.mu.RUnlock()
		// Not under the lock: the identity file is asked, and who holds a transaction there may
		// wait for the registry.
		for _, c := range before {
			if err := r.mayTake(c, p); err != nil {
				return err
			}
		}
		if done, err := r.registerOver(before, p, reg, most, why); done || err != nil {
			return err
		}
	}
}

// registerOver takes in what a bridge says of itself, if the claims of others on it are still those
// that were looked at.
func (r *Registry) registerOver(before []claim, p identity.Principal, reg vms.Registration, most int,
	why string) (done bool, err error) {
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	if !slices.Equal(before, r.claimsLocked(p, reg)) {
		return false, nil
	}
	mine := r.look(p.AccountID)
	b, known := mine.bridges[reg.ID]
	if !known && r.Limits.Bridges > 0 && len(mine.bridges) >= r.Limits.Bridges {
		return true,
			limited(fmt.Sprintf("The account may have %d bridges here, and has them: the operator can raise "+
				"--account-bridges", r.Limits.Bridges))
	}
	refused := mine.fit(reg, most, why, r.Limits.known())
	if len(refused) > 0 {
		reg.Cameras = slices.DeleteFunc(slices.Clone(reg.Cameras), func(c vms.RegisteredCamera) bool {
			return slices.ContainsFunc(refused, func(no vms.RefusedCamera) bool { return no.ID == c.ID })
		})
	}
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if delete(mine.refused, reg.ID); err == nil && len(refused) > 0 {
			r.account(p.AccountID).refused[reg.ID] = refused[:min(len(refused), maxRefused)]
		}
	}()
	return true, r.register(b, known, r.now().UTC(), p, reg)
}

// register stores a bridge's registration; b is its record so far. writeMu is held.
func (r *Registry) register(b Bridge, known bool, now time.Time, p identity.Principal, reg vms.Registration) error {
	next := Bridge{ID: reg.ID, Account: p.AccountID, Name: reg.Name, Address: strings.TrimRight(reg.Address, "/"),
		Token: reg.ImageToken, Holder: cmp.Or(p.Holder, b.Holder), Created: b.Created}
	if !known {
		next.Created = now
	}
	changed := map[string]Actor{}
	wanted := make(map[string]bool, len(reg.Cameras))
	self := Actor{ID: reg.ID, Type: vms.ActorBridge, Account: p.AccountID, Name: reg.Name}
	if err := r.upsert(changed, self, now); err != nil {
		return err
	}
	for _, c := range reg.Cameras {
		a := Actor{ID: c.ID, Type: vms.ActorCamera, Account: p.AccountID, Bridge: reg.ID, Name: c.Name,
			Status: c.ConnectionStatus}
		if err := r.upsert(changed, a, now); err != nil {
			return err
		}
		wanted[c.ID] = true
	}
	mine := r.look(p.AccountID)
	for id := range mine.of[reg.ID] {
		if wanted[id] {
			continue
		}
		if a := mine.actors[id]; a.camera() {
			a.Gone, a.Untold = true, a.Untold.and(ChangeGone)
			changed[id] = a
		}
	}
	r.noteTwins(b, reg.ImageToken)
	if b == next && len(changed) == 0 {
		return nil
	}
	return r.keep(next, slices.Collect(maps.Values(changed))...)
}

// upsert notes in changed what becomes of an actor that is registered as want, if that differs from
// what is known.
func (r *Registry) upsert(changed map[string]Actor, want Actor, now time.Time) error {
	old, known := r.look(want.Account).actors[want.ID]
	if c, ok := changed[want.ID]; ok {
		old, known = c, true
	}
	if known && old.Type != want.Type {
		return conflict(want.Type, want.ID)
	}
	want.Created, want.StatusSince = old.Created, old.StatusSince
	want.Described, want.Untold = old.Described, old.Untold
	want.Released = old.Released && old.Bridge == want.Bridge
	if !known {
		want.Created = now
	}
	if want.Status == "" || want.Status == vms.StatusUnknown {
		want.Status = old.Status // a bridge that has just started does not know yet, and its event tells soon
	} else if want.Status != old.Status {
		want.StatusSince = now
	}
	switch {
	case !known || old.Gone:
		want.Untold = want.Untold.and(ChangeNew)
	case want.shownName() != old.shownName() || want.Bridge != old.Bridge:
		want.Untold = want.Untold.and(ChangeRenamed)
	}
	if !known || want != old {
		changed[want.ID] = want
	}
	return nil
}

func conflict(kind, id string) error {
	return vms.NewError(http.StatusConflict, vms.ReasonExists,
		"The id "+id+" of this "+kind+" belongs to something else of the account already; give it another id in the "+
			"bridge's configuration")
}
