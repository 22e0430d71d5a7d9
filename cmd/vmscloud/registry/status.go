package registry

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"vmsbridge/uplink/vms"
)

// SetStatus notes a status event of an account's camera, unless a later one was heard already.
func (r *Registry) SetStatus(account, id, status string, since time.Time) error {
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	a, ok := r.look(account).actors[id]
	if !ok || since.Before(a.StatusSince) || (a.Status == status && a.StatusSince.Equal(since)) {
		return nil
	}
	a.Status, a.StatusSince = status, since
	return r.keep(Bridge{}, a)
}

// statusLocked is bridgeOffline while nothing is heard of the bridge; the camera may be well then.
func (r *Registry) statusLocked(a Actor) string {
	if r.awayLocked(a) {
		return vms.StatusBridgeOffline
	}
	return cmp.Or(a.Status, vms.StatusUnknown)
}

// awayLocked says whether a device is out of reach, for its bridge is.
func (r *Registry) awayLocked(a Actor) bool {
	return r.Away != nil && r.Away(a.Account, vms.Actor{Type: a.Type, ID: a.ID})
}

// online counts those of an account's cameras that are online.
func (r *Registry) online(account string, cameras []string) (n int) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	mine := r.look(account)
	for _, id := range cameras {
		if r.statusLocked(mine.actors[id]) == vms.StatusOnline {
			n++
		}
	}
	return n
}

// Bridge finds a bridge of an account.
func (r *Registry) Bridge(account, id string) (Bridge, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	b, ok := r.look(account).bridges[id]
	return b, ok
}

// Bridges are the ids of all bridges, by account.
func (r *Registry) Bridges() map[string][]string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := map[string][]string{}
	for account, a := range r.accounts {
		all[account] = slices.Collect(maps.Keys(a.bridges))
	}
	return all
}

// Attached are the cameras that a bridge has and that are not switched off, and those that it had;
// known says whether there is such a bridge.
func (r *Registry) Attached(account, bridge string) (on, gone []string, known bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	mine := r.look(account)
	if _, ok := mine.bridges[bridge]; !ok {
		return nil, nil, false
	}
	for id := range mine.of[bridge] {
		switch a := mine.actors[id]; {
		case a.Gone:
			gone = append(gone, a.ID)
		case a.Status != vms.StatusOff:
			on = append(on, a.ID)
		}
	}
	return on, gone, true
}
