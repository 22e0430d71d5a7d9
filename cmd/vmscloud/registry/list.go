package registry

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"vmsbridge/uplink/identity/web"
	"vmsbridge/uplink/vms"
)

// Cameras lists an account's cameras in the order of their ids, with their status.
func (r *Registry) Cameras(_ context.Context, account string) ([]vms.Camera, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var out []vms.Camera
	for _, a := range r.actors {
		if a.Account == account && a.Type == vms.ActorCamera && !a.Gone {
			out = append(out, vms.Camera{ID: a.ID, AccountID: a.Account, Name: a.Name, BridgeID: a.Bridge,
				CreateTimestamp: vms.At(a.Created), Status: &vms.ConnectionStatus{ConnectionStatus: r.statusLocked(a)}})
		}
	}
	slices.SortFunc(out, func(a, b vms.Camera) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// Devices lists an account's bridges and cameras for /g/device, in the order of their ids.
func (r *Registry) Devices(_ context.Context, account string) ([]web.Device, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var out []web.Device
	for _, a := range r.actors {
		if a.Account != account || a.Gone || (a.Type != vms.ActorCamera && a.Type != vms.ActorBridge) {
			continue
		}
		d := web.Device{ID: a.ID, AccountID: a.Account, Name: a.Name, Kind: a.Type, Bridge: a.Bridge, Created: a.Created}
		if a.Type == vms.ActorBridge {
			d.Address, d.Status = host(r.bridges[a.ID].Address), vms.StatusOnline
			if r.awayLocked(a) {
				d.Status = vms.StatusDeviceOffline
			}
		} else {
			d.Status = r.statusLocked(a)
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b web.Device) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// host is the host of an address, without the port.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Camera finds a camera of an account and the bridge that has it.
func (r *Registry) Camera(account, id string) (Actor, Bridge, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	a, ok := r.actors[id]
	if !ok || a.Account != account || a.Type != vms.ActorCamera {
		return Actor{}, Bridge{}, false
	}
	return a, r.bridges[a.Bridge], true
}

// Accounts are the ids of those that have anything here.
func (r *Registry) Accounts() map[string]bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := map[string]bool{}
	for _, b := range r.bridges {
		out[b.Account] = true
	}
	for _, a := range r.actors {
		out[a.Account] = true
	}
	return out
}

// Name is what to call an actor.
func (r *Registry) Name(id string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if n := r.actors[id].Name; n != "" {
		return n
	}
	return id
}
