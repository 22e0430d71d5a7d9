package registry

import (
	"cmp"
	"context"
	"math"
	"net/url"
	"slices"

	"vmsbridge/uplink/identity/web"
	"vmsbridge/uplink/vms"
)

// Cameras lists an account's cameras in the order of their ids, with their status.
func (r *Registry) Cameras(ctx context.Context, account string) ([]vms.Camera, error) {
	list, _, err := r.CamerasFrom(ctx, account, 0, math.MaxInt)
	return list, err
}

// CamerasFrom is up to n of them from a place in that order on, and how many there are in all.
func (r *Registry) CamerasFrom(ctx context.Context, account string, from, n int) (part []vms.Camera, total int, err error) {
	order := r.order(account)
	total = len(order)
	order = order[min(from, total):]
	order = order[:min(n, len(order))]
	r.mu.RLock()
	defer r.mu.RUnlock()
	mine := r.look(account)
	out := make([]vms.Camera, 0, len(order))
	for _, id := range order {
		if a := mine.actors[id]; a.camera() { // else it went a moment ago
			out = append(out, r.shownLocked(a))
		}
	}
	return out, total, ctx.Err()
}

// CameraOf is one of an account's cameras, ok false if there is none of that id.
func (r *Registry) CameraOf(_ context.Context, account, id string) (cam vms.Camera, ok bool, err error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	a := r.look(account).actors[id]
	if !a.camera() {
		return cam, false, nil
	}
	return r.shownLocked(a), true, nil
}

func (r *Registry) shownLocked(a Actor) vms.Camera {
	return vms.Camera{ID: a.ID, AccountID: a.Account, Name: a.Name, BridgeID: a.Bridge,
		CreateTimestamp: vms.At(a.Created), Status: &vms.ConnectionStatus{ConnectionStatus: r.statusLocked(a)}}
}

// Devices lists an account's bridges and cameras for /g/device, in the order of their ids.
func (r *Registry) Devices(_ context.Context, account string) ([]web.Device, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	mine := r.look(account)
	out := make([]web.Device, 0, mine.n+len(mine.bridges))
	for _, a := range mine.actors {
		if a.Gone || (a.Type != vms.ActorCamera && a.Type != vms.ActorBridge) {
			continue
		}
		d := web.Device{ID: a.ID, AccountID: a.Account, Name: a.Name, Kind: a.Type, Bridge: a.Bridge, Created: a.Created}
		if a.Type == vms.ActorBridge {
			d.Address, d.Status = host(mine.bridges[a.ID].Address), vms.StatusOnline
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
	mine := r.look(account)
	a, ok := mine.actors[id]
	if !ok || a.Type != vms.ActorCamera {
		return Actor{}, Bridge{}, false
	}
	return a, mine.bridges[a.Bridge], true
}

// Accounts are the ids of those that have anything here.
func (r *Registry) Accounts() map[string]bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := map[string]bool{}
	for id := range r.accounts {
		out[id] = true
	}
	return out
}

// Name is what to call an actor of an account.
func (r *Registry) Name(account, id string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return cmp.Or(r.look(account).actors[id].Name, id)
}
