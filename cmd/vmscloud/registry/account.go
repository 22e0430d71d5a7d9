package registry

import (
	"slices"

	"vmsbridge/uplink/vms"
)

// tenant is what one account has. The registry's lock guards it.
type tenant struct {
	bridges map[string]Bridge
	actors  map[string]Actor
	of      map[string]map[string]struct{} // bridge → ids of the cameras that it has, or had last
	cameras []string                       // ids of the cameras that bridges have, in order; nil: to be made again
	n       int                            // how many those are
	refused map[string][]vms.RefusedCamera // bridge → cameras that its last registration named and the account may not have
}

// account finds an account, making an empty one if need be. The lock is held for writing.
func (r *Registry) account(id string) *tenant {
	a := r.accounts[id]
	if a == nil {
		a = &tenant{bridges: map[string]Bridge{}, actors: map[string]Actor{}, of: map[string]map[string]struct{}{}, refused: map[string][]vms.RefusedCamera{}}
		r.accounts[id] = a
	}
	return a
}

// none is what an account has that has nothing. Only read.
var none = &tenant{}

// take takes in an actor that the file has.
func (r *Registry) take(a Actor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.account(a.Account).put(a)
}

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
	if was.camera() == now.camera() {
		return
	}
	if a.cameras = nil; now.camera() {
		a.n++
	} else {
		a.n--
	}
}

// order is the ids of the cameras that bridges of an account have, in order. Nobody changes the slice later.
func (r *Registry) order(id string) []string {
	r.mu.RLock()
	list := r.look(id).cameras
	r.mu.RUnlock()
	if list != nil {
		return list
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.accounts[id]
	if a == nil {
		return nil
	}
	if a.cameras == nil {
		a.cameras = make([]string, 0, a.n)
		for id, actor := range a.actors {
			if actor.camera() {
				a.cameras = append(a.cameras, id)
			}
		}
		slices.Sort(a.cameras)
	}
	return a.cameras
}
