package registry

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"vmsbridge/uplink/identity/web"
	"vmsbridge/uplink/vms"
)

// CameraIDs are the ids of an account's cameras in order, or of those that the bridges of one
// holder of a credential have. Nobody changes the slice.
func (r *Registry) CameraIDs(account, holder string) []string {
	if holder != "" {
		return r.ids(account, camerasOf(holder))
	}
	return r.ids(account, allCameras)
}

// CameraOf is one of an account's cameras, ok false if there is none of that id.
func (r *Registry) CameraOf(account, id string) (cam vms.Camera, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	a := r.look(account).actors[id]
	if !a.camera() {
		return cam, false
	}
	return r.shownLocked(a), true
}

func (r *Registry) shownLocked(a Actor) vms.Camera {
	cam := vms.Camera{ID: a.ID, AccountID: a.Account, Name: a.Name, BridgeID: a.Bridge,
		CreateTimestamp: vms.At(a.Created), Status: &vms.ConnectionStatus{ConnectionStatus: r.statusLocked(a)}}
	if a.Described != nil {
		a.Described.Put(&cam)
	}
	return cam
}

// atOnce is how many of a long list are read under one lock, so that nobody waits for it, and it
// ends soon after its client has left.
const atOnce = 256

// Devices lists an account's bridges and cameras for /g/device, in the order of their ids.
func (r *Registry) Devices(ctx context.Context, account string) ([]web.Device, error) {
	ids := r.ids(account, allDevices)
	out := make([]web.Device, 0, len(ids))
	for some := range slices.Chunk(ids, atOnce) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.mu.RLock()
		mine := r.look(account)
		for _, id := range some {
			if a := mine.actors[id]; a.listed() { // else it went a moment ago
				out = append(out, r.deviceLocked(a))
			}
		}
		r.mu.RUnlock()
	}
	return out, ctx.Err()
}

// Device is one of them, ok false if there is none of that id.
func (r *Registry) Device(account, id string) (d web.Device, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	a := r.look(account).actors[id]
	if !a.listed() {
		return d, false
	}
	return r.deviceLocked(a), true
}

func (r *Registry) deviceLocked(a Actor) web.Device {
	d := web.Device{ID: a.ID, AccountID: a.Account, Name: a.shownName(), Kind: a.Type, Bridge: a.Bridge,
		Created: a.Created}
	switch {
	case a.Type != vms.ActorBridge:
		d.Status = r.statusLocked(a)
		return d
	case r.awayLocked(a):
		d.Status = vms.StatusDeviceOffline
	default:
		d.Status = vms.StatusOnline
	}
	d.Address = host(r.look(a.Account).bridges[a.ID].Address)
	return d
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

// IDs are the ids of the bridges and of the cameras of an account, or of all for "", in order.
func (r *Registry) IDs(account string) (bridges, cameras []string) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for of, mine := range r.accounts {
		if account != "" && of != account {
			continue
		}
		for id := range mine.bridges {
			bridges = append(bridges, id)
		}
		for id, a := range mine.actors {
			if a.camera() {
				cameras = append(cameras, id)
			}
		}
	}
	slices.Sort(bridges)
	slices.Sort(cameras)
	return bridges, cameras
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
	return cmp.Or(r.look(account).actors[id].shownName(), id)
}
