package registry

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// mayHold is nil if a credential may speak for a bridge: its own, or another one after that was revoked.
func (r *Registry) mayHold(b Bridge, p identity.Principal) error {
	if b.Holder == "" || b.Holder == p.Holder {
		return nil
	}
	name := b.Holder
	if r.Holds != nil {
		called, stands, err := r.Holds(b.Holder)
		if err != nil {
			return err
		}
		if !stands {
			return nil
		}
		name = strconv.Quote(called) + " (" + b.Holder + ")"
	}
	return vms.NewError(http.StatusConflict, vms.ReasonExists, "The bridge "+b.ID+" is registered with another credential, "+name+
		", which is still good. If this one shall take its place, let the operator say so: vmscloud bridge release "+b.ID+"; else give this bridge another id")
}

// SpeaksFor is nil if the credential of a request may open the tunnel of a bridge.
func (r *Registry) SpeaksFor(p identity.Principal, bridge string) error {
	r.mu.RLock()
	b, ok := r.bridges[bridge]
	r.mu.RUnlock()
	if !ok || b.Account != p.AccountID {
		return vms.NewError(http.StatusConflict, vms.ReasonResource, "No bridge of this id is registered for the account of this token; register it first")
	}
	return r.mayHold(b, p)
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
	r.bridges[id] = b
	return nil
}
