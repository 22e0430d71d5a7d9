package registry

import (
	"cmp"

	"vmsbridge/uplink/vms"
)

// BridgeIDs are the ids of an account's bridges in order. Nobody changes the slice.
func (r *Registry) BridgeIDs(account string) []string { return r.ids(account, allBridges) }

// BridgeRecord is one of an account's bridges, with the ids of the cameras that it has; ok is false
// if there is none of that id.
func (r *Registry) BridgeRecord(account, id string) (b vms.Bridge, cameras []string, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	mine := r.look(account)
	known, ok := mine.bridges[id]
	if !ok {
		return b, nil, false
	}
	b = vms.Bridge{ID: id, AccountID: account, Name: cmp.Or(known.Name, id), CreateTimestamp: vms.At(known.Created),
		Status: &vms.ConnectionStatus{ConnectionStatus: vms.StatusOnline}, NetworkInfo: &vms.NetworkInfo{}}
	if r.Away != nil && r.Away(account, vms.Actor{Type: vms.ActorBridge, ID: id}) {
		b.Status.ConnectionStatus = vms.StatusBridgeOffline
	}
	if at := host(known.Address); at != "" {
		b.NetworkInfo.IPAddress = &at
	}
	for camera := range mine.of[id] {
		if mine.actors[camera].camera() {
			cameras = append(cameras, camera)
		}
	}
	return b, cameras, true
}

// Describe keeps what people say of an account's camera. A *vms.Error says that there is none.
func (r *Registry) Describe(account, id string, change vms.CameraChange) error {
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	a := r.look(account).actors[id]
	if !a.camera() {
		return vms.NotFound("cameras", "", id)
	}
	var said vms.Description
	if a.Described != nil {
		said = *a.Described
	}
	said = said.With(change)
	a.Described = &said
	return r.keep(Bridge{}, a)
}
