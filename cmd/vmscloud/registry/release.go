package registry

import (
	"cmp"
	"fmt"
	"slices"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// Held is a bridge, how it is, and with which credential it is registered.
type Held struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Account string `json:"account"`
	Status  string `json:"connectionStatus,omitempty"` // "" where nothing looks (Registry.Away)
	Cameras int    `json:"cameras"`
	Online  *int   `json:"camerasOnline,omitempty"` // nil where nothing looks
	// LastSeen is nil where it is not known.
	LastSeen *vms.Time `json:"lastSeen,omitempty"`
	Holder   string    `json:"holder"`
	Called   string    `json:"called"` // the holder, by people; "" if it is gone
}

// List lists the bridges of all accounts in the order of their ids.
func (r *Registry) List() ([]Held, error) {
	r.mu.RLock()
	var list []Held
	for _, a := range r.accounts {
		for _, b := range a.bridges {
			list = append(list, Held{ID: b.ID, Name: b.Name, Account: b.Account, Holder: b.Holder})
		}
	}
	r.mu.RUnlock()
	slices.SortFunc(list, func(a, b Held) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Account, b.Account))
	})
	for i := range list {
		record, cameras, _ := r.BridgeRecord(list[i].Account, list[i].ID)
		if list[i].Cameras = len(cameras); r.Away != nil && record.Status != nil {
			online := r.online(list[i].Account, cameras)
			list[i].Status, list[i].Online = record.Status.ConnectionStatus, &online
		}
		if r.LastSeen != nil {
			if at := r.LastSeen(list[i].Account, list[i].ID); !at.IsZero() {
				list[i].LastSeen = vms.Ptr(at)
			}
		}
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

// Release forgets who holds a bridge. Without an account, the bridge must be the only one of its
// id. identity.ErrNotFound if there is none.
func (r *Registry) Release(account, id string) error {
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	b, err := only(r, account, "bridge", id, func(a *tenant) (Bridge, bool) { b, ok := a.bridges[id]; return b, ok })
	if err != nil {
		return err
	}
	b.Holder = ""
	return r.keep(b)
}

// ReleaseCamera lets the next other bridge of its account that registers a camera have it. As
// Release.
func (r *Registry) ReleaseCamera(account, id string) error {
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	a, err := only(r, account, "camera", id, func(a *tenant) (Actor, bool) {
		c := a.actors[id]
		return c, c.Type == vms.ActorCamera
	})
	if err != nil {
		return err
	}
	a.Released = true
	return r.keep(Bridge{}, a)
}

// only finds what an account has, or the only account that has it where none is named.
func only[T any](r *Registry, account, kind, id string, in func(*tenant) (T, bool)) (one T, err error) {
	n := 0
	for of, a := range r.accounts {
		if v, ok := in(a); ok && (account == "" || of == account) {
			one, n = v, n+1
		}
	}
	switch n {
	case 0:
		return one, identity.ErrNotFound
	case 1:
		return one, nil
	}
	return one, fmt.Errorf("%d accounts have a %s %q: say which with --account", n, kind, id)
}
