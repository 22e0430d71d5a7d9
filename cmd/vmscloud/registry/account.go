package registry

import (
	"maps"
	"slices"

	"vmsbridge/uplink/vms"
)

// tenant is what one account has. The registry's lock guards it.
type tenant struct {
	bridges map[string]Bridge
	actors  map[string]Actor
	of      map[string]map[string]struct{} // bridge → ids of the cameras that it has, or had last
	lists   map[list][]string              // ids in order, made when asked for; empty when something came or went
	n       int                            // how many cameras bridges have
	// bridge → cameras that its last registration named and the account may not have
	refused map[string][]vms.RefusedCamera
	twins   map[string]twins // by bridge
}

// account finds an account, making an empty one if need be. The lock is held for writing.
func (r *Registry) account(id string) *tenant {
	a := r.accounts[id]
	if a == nil {
		a = &tenant{bridges: map[string]Bridge{}, actors: map[string]Actor{}, of: map[string]map[string]struct{}{},
			lists:   map[list][]string{},
			refused: map[string][]vms.RefusedCamera{}, twins: map[string]twins{}}
		r.accounts[id] = a
	}
	return a
}

// none is what an account has that has nothing. Only read.
var none = &tenant{}

// look finds an account to read. The lock is held, or writeMu.
func (r *Registry) look(id string) *tenant {
	if a := r.accounts[id]; a != nil {
		return a
	}
	return none
}

// put takes in an actor over the one of its id.
func (a *tenant) put(now Actor) {
	was := a.actors[now.ID]
	a.actors[now.ID] = now
	if was.Bridge != now.Bridge {
		if delete(a.of[was.Bridge], was.ID); len(a.of[was.Bridge]) == 0 {
			delete(a.of, was.Bridge)
		}
	}
	if now.Bridge != "" && now.Type == vms.ActorCamera {
		if a.of[now.Bridge] == nil {
			a.of[now.Bridge] = map[string]struct{}{}
		}
		a.of[now.Bridge][now.ID] = struct{}{}
	}
	if was.listed() != now.listed() || was.Bridge != now.Bridge {
		clear(a.lists)
	}
	switch {
	case now.camera() && !was.camera():
		a.n++
	case was.camera() && !now.camera():
		a.n--
	}
}

// list says which ids of an account: of all cameras that bridges have, of cameras and bridges, of
// bridges, or of the cameras that the bridges of one holder of a credential have.
type list struct {
	devices, bridges, held bool
	holder                 string
}

var (
	allCameras = list{}
	allDevices = list{devices: true}
	allBridges = list{bridges: true}
)

func camerasOf(holder string) list { return list{held: true, holder: holder} }

// ids are those of a list, in order. Nobody changes the slice later.
func (r *Registry) ids(account string, which list) []string {
	r.mu.RLock()
	ids, ok := r.look(account).lists[which]
	r.mu.RUnlock()
	if ok {
		return ids
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.accounts[account]
	if a == nil {
		return nil
	}
	if ids, ok := a.lists[which]; ok {
		return ids
	}
	ids = a.collect(which)
	slices.Sort(ids)
	a.lists[which] = ids
	return ids
}

func (a *tenant) collect(which list) (ids []string) {
	if which.bridges {
		return slices.Collect(maps.Keys(a.bridges))
	}
	if !which.held {
		ids = make([]string, 0, a.n+len(a.bridges))
		for id, actor := range a.actors {
			if actor.camera() || which.devices && actor.listed() {
				ids = append(ids, id)
			}
		}
		return ids
	}
	for bridge, b := range a.bridges {
		if b.Holder != which.holder {
			continue
		}
		for id := range a.of[bridge] {
			if a.actors[id].camera() {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
