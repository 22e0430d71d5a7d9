package registry

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// claim is what a bridge that is registered already has of another registration: its id, or a camera, "" for the id.
type claim struct{ bridge, holder, camera string }

// claimsLocked are the claims on a registration that are not its own credential's: on the id of the bridge, and one of each
// other bridge on a camera.
func (r *Registry) claimsLocked(p identity.Principal, reg vms.Registration) (out []claim) {
	add := func(b Bridge, camera string) {
		if b.Account == p.AccountID && b.Holder != "" && b.Holder != p.Holder &&
			!slices.ContainsFunc(out, func(c claim) bool { return c.bridge == b.ID }) {
			out = append(out, claim{b.ID, b.Holder, camera})
		}
	}
	add(r.bridges[reg.ID], "")
	for _, c := range reg.Cameras {
		if a := r.actors[c.ID]; a.Type == vms.ActorCamera && a.Bridge != reg.ID && !a.Gone && !a.Released {
			add(r.bridges[a.Bridge], c.ID)
		}
	}
	return out
}

// mayTake is nil if a credential may have what another one claims: it may once the other one is revoked, expired or gone.
func (r *Registry) mayTake(c claim, p identity.Principal) error {
	name := c.holder
	if r.Holds != nil {
		called, stands, err := r.Holds(c.holder)
		if err != nil || !stands {
			return err
		}
		name = strconv.Quote(called) + " (" + c.holder + ")"
	}
	if c.camera == "" {
		return vms.NewError(http.StatusConflict, vms.ReasonExists, "The bridge "+c.bridge+" is registered with another credential, "+name+
			", which is still good. If this one shall take its place, let the operator say so: vmscloud bridge release "+c.bridge+"; else give this bridge another id")
	}
	return vms.NewError(http.StatusConflict, vms.ReasonExists, "The camera "+c.camera+" belongs to the bridge "+c.bridge+", which is registered with another credential, "+
		name+", that is still good. Remove the camera from that bridge's configuration, or let the operator say so: vmscloud camera release "+c.camera+
		"; else give this camera another id")
}

// SpeaksFor is nil if the credential of a request may open the tunnel of a bridge.
func (r *Registry) SpeaksFor(p identity.Principal, bridge string) error {
	r.mu.RLock()
	b, ok := r.bridges[bridge]
	r.mu.RUnlock()
	if !ok || b.Account != p.AccountID {
		return vms.NewError(http.StatusConflict, vms.ReasonResource, "No bridge of this id is registered for the account of this token; register it first")
	}
	if b.Holder == "" || b.Holder == p.Holder {
		return nil
	}
	return r.mayTake(claim{bridge: b.ID, holder: b.Holder}, p)
}

// Held is a bridge, and with which credential it is registered.
type Held struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Account string `json:"account"`
	Holder  string `json:"holder"`
	Called  string `json:"called"` // the holder, by people; "" if it is gone
}

// List lists the bridges in the order of their ids.
func (r *Registry) List() ([]Held, error) {
	r.mu.RLock()
	var list []Held
	for _, id := range slices.Sorted(maps.Keys(r.bridges)) {
		b := r.bridges[id]
		list = append(list, Held{ID: b.ID, Name: b.Name, Account: b.Account, Holder: b.Holder})
	}
	r.mu.RUnlock()
	for i := range list {
		if list[i].Holder == "" || r.Holds == nil {
			continue
		}
		called, stands, err := r.Holds(list[i].Holder)
		if err != nil {
			return nil, err
		}
		if stands {
			list[i].Called = called
		}
	}
	return list, nil
}

// Release forgets who holds a bridge. identity.ErrNotFound if there is none of that id.
func (r *Registry) Release(id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.bridges[id]
	if !ok {
		return identity.ErrNotFound
	}
	b.Holder = ""
	if err := r.save(b, nil); err != nil {
		return err
	}
	r.setLocked(b)
	return nil
}

// ReleaseCamera lets the next other bridge of its account that registers a camera have it. identity.ErrNotFound if there is no
// camera of that id.
func (r *Registry) ReleaseCamera(id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.actors[id]
	if !ok || a.Type != vms.ActorCamera {
		return identity.ErrNotFound
	}
	a.Released = true
	if err := r.save(Bridge{}, map[string]Actor{id: a}); err != nil {
		return err
	}
	r.actors[id] = a
	return nil
}

// Keeper is the bridge that has an actor of an account, itself included, and the holder of the credential that registered it; "" for
// what no bridge has.
func (r *Registry) Keeper(account string, a vms.Actor) (bridge, holder string) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok := r.actors[a.ID]
	if !ok || known.Account != account || known.Type != a.Type {
		return "", ""
	}
	bridge = known.Bridge
	if known.Type == vms.ActorBridge {
		bridge = known.ID
	}
	return bridge, r.bridges[bridge].Holder
}

// IsBridge says whether a credential is a bridge's: one that was made for a bridge, or that has registered one. A client of OAuth that
// has not is any program of the account.
func (r *Registry) IsBridge(p identity.Principal) bool {
	if p.Kind != identity.KindBridge || !strings.HasPrefix(p.Holder, "client:") {
		return p.Kind == identity.KindBridge
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.held[p.Holder] > 0
}

// setLocked puts a bridge in place of what was known of it.
func (r *Registry) setLocked(b Bridge) {
	r.dropLocked(b.ID)
	r.bridges[b.ID] = b
	r.held[b.Holder]++

}

func (r *Registry) dropLocked(id string) {
	if old, ok := r.bridges[id]; ok {
		if r.held[old.Holder]--; r.held[old.Holder] == 0 {
			delete(r.held, old.Holder)
		}
		delete(r.bridges, id)
	}
}
